using Xunit;

namespace Allocator.Tests;

/// <summary>What is measured says little of code that is not optimized, and takes long there.</summary>
internal static class OptimizedBuild
{
    /// <summary>Skips the test in Debug. The Release run of the continuous integration has it.</summary>
    public static void SkipOtherwise()
    {
#if DEBUG
        Skip.If(true, "Measures: run it in Release.");
#endif
    }
}
