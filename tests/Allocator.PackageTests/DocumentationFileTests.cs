using System.Xml.Linq;

namespace Allocator.PackageTests;

/// <summary>What an editor shows of the packed members.</summary>
[Collection(nameof(PackedLibrary))]
public class DocumentationFileTests(PackedLibrary library)
{
    [Theory]
    [InlineData("Allocator", "netstandard2.0")]
    [InlineData("Allocator", "net8.0")]
    [InlineData("Allocator", "net10.0")]
    [InlineData("Allocator.AspNetCore", "net8.0")]
    [InlineData("Allocator.AspNetCore", "net10.0")]
    [InlineData("Allocator.SkiaSharp", "net8.0")]
    [InlineData("Allocator.SkiaSharp", "net10.0")]
    public void Documentation_OfAnAssembly_IsOfAllItsPublicMembersAndOfNoOthers(string name, string framework)
    {
        string package = Path.Combine(library.Feed, $"{name}.{library.Version}.nupkg");
        using PackedAssembly assembly = new(package, $"lib/{framework}/{name}.dll");
        HashSet<string> visible = assembly.VisibleNames();
        string[] documented = [.. Documented(package, $"lib/{framework}/{name}.xml").Select(NameOf).Distinct()];

        Assert.Empty(documented.Except(visible));

        // Each type and most members: accessors, what the compiler adds and what overrides have none of their own.
        string[] types = [.. visible.Where(member => visible.Any(other => other.StartsWith(member + '.', StringComparison.Ordinal)))];
        Assert.True(types.Length >= 3, $"{types.Length} types");
        Assert.Empty(types.Except(documented));
    }

    // Overloads of one name that are not public: by what they are documented for.
    [Fact]
    public void Documentation_OfTheLibrary_HasNoConstructorOfWhatItsMethodsMake()
    {
        string[] documented = [.. Documented(library.PackagePath, "lib/net10.0/Allocator.xml")];

        Assert.Contains(documented, id => id.StartsWith("M:Allocator.MemoryAllocator.AllocatePixels``1(", StringComparison.Ordinal));
        Assert.DoesNotContain(documented, id => id.StartsWith("M:Allocator.PixelBuffer`1.#ctor", StringComparison.Ordinal));
    }

    private static IEnumerable<string> Documented(string package, string entry)
    {
        using ZipArchive archive = ZipFile.OpenRead(package);
        using Stream stream = archive.GetEntry(entry)!.Open();
        return [.. XDocument.Load(stream).Descendants("member").Select(member => member.Attribute("name")!.Value)];
    }

    // Less the kind, the parameters, and the number of a method's type parameters.
    private static string NameOf(string id) => id[2..].Split('(')[0].Split("``")[0];
}
