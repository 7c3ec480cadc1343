using System.ComponentModel;

namespace Allocator.PackageTests;

/// <summary>What new projects get from the package, for each kind of target.</summary>
[Collection(nameof(PackedLibrary))]
public class ConsumerTests(PackedLibrary library)
{
    [Theory]
    [InlineData("net10.0", "net10.0")]
    [InlineData("net8.0", "net8.0")]
    [InlineData("netstandard2.0", "netstandard2.0")]
    [InlineData("net472", "netstandard2.0")]
    public void Restore_ForATarget_TakesItsAsset(string targetFramework, string asset)
    {
        string[] expected = [$"lib/{asset}/Allocator.dll"];

        (string[] compile, string[] run) = library.Consumers.Assets(targetFramework);

        Assert.Equal(expected, compile);
        Assert.Equal(expected, run);
    }

    [Fact]
    public void ReadmeExample_InANewProject_CompilesAndRuns() => library.Consumers.RunReadmeExample();

    /// <summary>Where there is no .NET 8 the newest runs it, with the same asset.</summary>
    [Theory]
    [InlineData("net10.0", ".NETCoreApp,Version=v10.0")]
    [InlineData("net8.0", ".NETCoreApp,Version=v8.0")]
    public void Consumer_OnDotnet_RunsWithItsAsset(string targetFramework, string ofTheLibrary) =>
        Assert.Equal([ofTheLibrary, "42, 2 blocks"], library.Consumers.Run(targetFramework));

    [SkippableFact]
    public void Net472Consumer_OnMono_RunsWithTheNetStandardAsset() =>
        Assert.Equal([".NETStandard,Version=v2.0", "42, 2 blocks"], OnMono(library.Consumers.RunOnMono));

    [SkippableFact]
    public void FirstImage_OnMono_IsMade() =>
        Assert.StartsWith("4000 × 3000", OnMono(library.Consumers.RunFirstImageOnMono)[0], StringComparison.Ordinal);

    private static string[] OnMono(Func<string[]> run)
    {
        try
        {
            return run();
        }
        catch (Win32Exception)
        {
            throw new SkipException("Mono is not installed.");
        }
        catch (InvalidOperationException exception) when (exception.Message.Contains("assembly 'netstandard,", StringComparison.Ordinal))
        {
            throw new SkipException(
                "This Mono lacks netstandard.dll, which is among the facades of the package mono-devel; MONO_PATH may name their folder.");
        }
    }
}
