using System.Reflection;
using Allocator.Tests.PublicApi;

namespace Allocator.SkiaSharp.Tests;

public class PublicApiTests
{
    [Fact]
    public void PublicApi_OfThePackage_MatchesTheFile() =>
        PublicApiFile.AssertIsOf(typeof(SkiaSharpMemory).Assembly, "Allocator.SkiaSharp");

    /// <summary>The package is built with the oldest version, and these tests run it with the one that was chosen.</summary>
    [Fact]
    public void Package_WithTheChosenSkiaSharp_WasBuiltWithTheOldest()
    {
        string chosen = typeof(PublicApiTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Single(metadata => metadata.Key == "SkiaSharpVersion").Value!;
        AssemblyName built = typeof(SkiaSharpMemory).Assembly.GetReferencedAssemblies().Single(name => name.Name == "SkiaSharp");

        Assert.Equal(new Version(3, 119, 0, 0), built.Version);
        Assert.Equal(Version.Parse(chosen).Minor, typeof(SKBitmap).Assembly.GetName().Version!.Minor);
    }
}
