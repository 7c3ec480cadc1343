using System.Diagnostics;
using System.Linq;
using System.Reflection;
using Allocator;

namespace AlignedAllocation.Sweeps;

/// <summary>How this program was built, read off its assemblies.</summary>
internal static class BuildConfiguration
{
    /// <summary>Gets the name of the configuration.</summary>
    public static string Name { get; } = typeof(Program).Assembly.GetCustomAttribute<AssemblyConfigurationAttribute>()?.Configuration ?? "unknown";

    /// <summary>Gets the name of the configuration that this program is also to be measured in.</summary>
    public static string OtherName { get; } = Name == "Debug" ? "Release" : "Debug";

    /// <summary>Gets a value indicating whether the compiler may optimise this program and the library.</summary>
    public static bool IsOptimized { get; } = new[] { typeof(Program).Assembly, typeof(MemoryAllocator).Assembly }
        .All(assembly => assembly.GetCustomAttribute<DebuggableAttribute>() is not { IsJITOptimizerDisabled: true });
}
