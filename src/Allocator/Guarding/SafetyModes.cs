using System;
using Allocator.Diagnostics;

namespace Allocator.Guarding;

/// <summary>Settles the safety mode of an allocator: what the options say, or else the process's configuration, or else its environment.</summary>
internal static class SafetyModes
{
    public const string ConfigurationName = "Allocator.Safety";
    public const string VariableName = "ALLOCATOR_SAFETY";

    /// <summary>Settles it for the running process.</summary>
    /// <exception cref="InvalidOperationException">The configuration or the environment has no such mode.</exception>
    public static SafetyMode Resolve(SafetyMode? option) => option ?? ProcessSwitch.Read(ConfigurationName, VariableName, SafetyMode.Standard);

    public static SafetyMode Resolve(SafetyMode? option, object? configured, string? environment) =>
        option ?? ProcessSwitch.Read(ConfigurationName, configured, VariableName, environment, SafetyMode.Standard);
}
