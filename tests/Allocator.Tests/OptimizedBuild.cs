namespace Allocator.Tests;

/// <summary>What is measured says little of code that is not optimized, and takes long there.</summary>
internal static class OptimizedBuild
{
#if DEBUG
    public const bool IsOptimized = false;
#else
    public const bool IsOptimized = true;
#endif

    /// <summary>Skips the test in Debug. The Release run of the continuous integration has it.</summary>
    public static void SkipOtherwise() => Xunit.Skip.IfNot(IsOptimized, "Measures: run it in Release.");
}
