using System.Reflection;
using System.Runtime.Versioning;

namespace Allocator.Tests;

/// <summary>
/// Holds the build to what it was asked for: <c>-p:TestNetStandard=true</c> must not silently test another asset, nor
/// <c>-p:TestFramework=net8.0</c> run on another runtime.
/// </summary>
public class TestedAssemblyTests
{
    [Fact]
    public void TargetFramework_OfTheLoadedLibrary_IsTheProjects()
    {
        string? chosen = Metadata("TestedTargetFramework");
        string? loaded = typeof(MemoryAllocator).Assembly.GetCustomAttribute<TargetFrameworkAttribute>()?.FrameworkName;

        Assert.Equal(chosen, loaded);
    }

    [Fact]
    public void Runtime_OfTheTestsAndTheirChildren_IsTheProjects()
    {
        string chosen = Metadata("TestFramework");

        Assert.Equal(chosen, Running());
        RemoteExecutor.Invoke(static chosen => Assert.Equal(chosen, Running()), chosen).Dispose();
    }

    private static string Running() => $"net{Environment.Version.Major}.{Environment.Version.Minor}";

    private static string Metadata(string key) =>
        typeof(TestedAssemblyTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Single(metadata => metadata.Key == key).Value!;
}
