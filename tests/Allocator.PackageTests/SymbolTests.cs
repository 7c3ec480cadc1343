using System.Reflection.Metadata;
using System.Text;
using System.Text.Json;

namespace Allocator.PackageTests;

/// <summary>What a debugger finds of the library's sources.</summary>
[Collection(nameof(PackedLibrary))]
public class SymbolTests(PackedLibrary library)
{
    // As the specification of portable PDBs has them.
    private static readonly Guid s_sourceLink = new("CC110556-A091-4D38-9FEC-25AB9A351A6A");
    private static readonly Guid s_embeddedSource = new("0E8A571B-6926-466E-B4AD-8AB04611F5FE");

    [Theory]
    [InlineData("netstandard2.0")]
    [InlineData("net8.0")]
    [InlineData("net10.0")]
    public void Symbols_OfAClone_LinkToTheSourcesOfItsCommit(string framework)
    {
        using MetadataReaderProvider provider = MetadataReaderProvider.FromPortablePdbStream(new MemoryStream(Symbols(framework)));
        MetadataReader reader = provider.GetMetadataReader();
        string link = Encoding.UTF8.GetString(CustomInformation(reader, s_sourceLink, EntityHandle.ModuleDefinition)
            ?? throw new InvalidDataException("The symbols have no SourceLink."));

        using JsonDocument json = JsonDocument.Parse(link);
        JsonProperty root = Assert.Single(json.RootElement.GetProperty("documents").EnumerateObject());
        Assert.Equal("/_/*", root.Name);
        Assert.Equal($"https://raw.githubusercontent.com/example/allocator/{library.Commit}/*", root.Value.GetString());
    }

    /// <summary>No path of the machine that compiled it, and nothing that could be found nowhere.</summary>
    [Fact]
    public void Symbols_EachDocument_IsOfTheRepositoryOrEmbedded()
    {
        using MetadataReaderProvider provider = MetadataReaderProvider.FromPortablePdbStream(new MemoryStream(Symbols("net10.0")));
        MetadataReader reader = provider.GetMetadataReader();
        List<string> ofTheRepository = [];
        foreach (DocumentHandle handle in reader.Documents)
        {
            string path = reader.GetString(reader.GetDocument(handle).Name);
            Assert.StartsWith("/_/", path);
            if (CustomInformation(reader, s_embeddedSource, handle) is null)
            {
                ofTheRepository.Add(path["/_/".Length..]);
            }
        }

        Assert.Contains("src/Allocator/MemoryAllocator.cs", ofTheRepository);
        Assert.All(ofTheRepository, path => Assert.True(File.Exists(Path.Combine(library.Sources, path)), path));
    }

    private static byte[]? CustomInformation(MetadataReader reader, Guid kind, EntityHandle of) => reader.GetCustomDebugInformation(of)
        .Select(reader.GetCustomDebugInformation)
        .Where(information => reader.GetGuid(information.Kind) == kind)
        .Select(information => reader.GetBlobBytes(information.Value))
        .SingleOrDefault();

    private byte[] Symbols(string framework)
    {
        using ZipArchive archive = ZipFile.OpenRead(library.SymbolsPath);
        using Stream stream = archive.GetEntry($"lib/{framework}/Allocator.pdb")!.Open();
        MemoryStream symbols = new();
        stream.CopyTo(symbols);
        return symbols.ToArray();
    }
}
