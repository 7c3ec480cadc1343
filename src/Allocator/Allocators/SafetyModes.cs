using System;

namespace Allocator.Allocators;

/// <summary>Settles the safety mode of an allocator: what the options say, or else the process's configuration, or else its environment.</summary>
internal static class SafetyModes
{
    public const string ConfigurationName = "Allocator.Safety";
    public const string VariableName = "ALLOCATOR_SAFETY";

    /// <summary>Settles it for the running process.</summary>
    /// <exception cref="InvalidOperationException">The configuration or the environment has no such mode.</exception>
    public static SafetyMode Resolve(SafetyMode? option) =>
        Resolve(option, AppContext.GetData(ConfigurationName), Environment.GetEnvironmentVariable(VariableName));

    public static SafetyMode Resolve(SafetyMode? option, object? configured, string? environment) =>
        option
        ?? Parse($"The AppContext data {ConfigurationName}", configured?.ToString())
        ?? Parse($"The environment variable {VariableName}", environment)
        ?? SafetyMode.Standard;

    // By name and not by Enum.Parse, which takes numbers, and lists of names, too.
    private static SafetyMode? Parse(string source, string? text)
    {
        string name = (text ?? string.Empty).Trim();
        if (name.Length == 0)
        {
            return null;
        }

        foreach (SafetyMode mode in (SafetyMode[])[SafetyMode.Standard, SafetyMode.Sampled, SafetyMode.Guarded])
        {
            if (string.Equals(name, mode.ToString(), StringComparison.OrdinalIgnoreCase))
            {
                return mode;
            }
        }

        Throw.UnknownSafetyMode(source, name);
        return null;
    }
}
