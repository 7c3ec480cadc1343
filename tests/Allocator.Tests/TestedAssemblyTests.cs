using System.Linq;
using System.Reflection;
using System.Runtime.Versioning;
using Xunit;

namespace Allocator.Tests;

/// <summary>Holds the build to what it was asked for: <c>-p:TestNetStandard=true</c> must not silently test another asset.</summary>
public class TestedAssemblyTests
{
    [Fact]
    public void TargetFramework_OfTheLoadedLibrary_IsTheOneThatTheProjectChose()
    {
        string? chosen = typeof(TestedAssemblyTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Single(metadata => metadata.Key == "TestedTargetFramework").Value;
        string? loaded = typeof(MemoryAllocator).Assembly.GetCustomAttribute<TargetFrameworkAttribute>()?.FrameworkName;

        Assert.Equal(chosen, loaded);
    }
}
