using System.Reflection.Metadata;

namespace Allocator.PackageTests;

/// <summary>What the packed assemblies state about themselves to a consumer's SDK.</summary>
[Collection(nameof(PackedLibrary))]
public class AssemblyTests(PackedLibrary library)
{
    /// <summary>
    /// Without it a consumer's trimming leaves the library as it is, and a later SDK warns of it when compiling ahead of time.
    /// </summary>
    [Fact]
    public void Library_ForDotnet_SaysThatItCanBeTrimmedAndCompiledAheadOfTime()
    {
        Assert.Equal("True", Metadata("net8.0")["IsTrimmable"]);
        Assert.Equal("True", Metadata("net10.0")["IsTrimmable"]);
        Assert.Equal("True", Metadata("net10.0")["IsAotCompatible"]);
    }

    /// <summary>
    /// An assembly with a strong name cannot refer to one without, on .NET Framework. The key stays: another one is another assembly to
    /// all that was compiled against this one.
    /// </summary>
    [Fact]
    public void Assemblies_OfBothPackages_HaveOneStrongName()
    {
        List<string> names = [];
        foreach (string package in new[] { library.PackagePath, library.WebPackagePath })
        {
            using ZipArchive archive = ZipFile.OpenRead(package);
            foreach (string entry in archive.Entries.Select(entry => entry.FullName)
                .Where(entry => entry.EndsWith(".dll", StringComparison.Ordinal)))
            {
                using PackedAssembly assembly = new(package, entry);
                byte[] token = assembly.Metadata.GetAssemblyDefinition().GetAssemblyName().GetPublicKeyToken()!;
                names.Add($"{Path.GetFileName(entry)} {Convert.ToHexString(token)}");
            }
        }

        Assert.Equal(7, names.Count);
        Assert.All(names, name => Assert.EndsWith(" 7130AF09D629007F", name, StringComparison.Ordinal));
    }

    private Dictionary<string, string?> Metadata(string framework)
    {
        using PackedAssembly assembly = new(library.PackagePath, $"lib/{framework}/Allocator.dll");
        MetadataReader reader = assembly.Metadata;
        return reader.GetAssemblyDefinition().GetCustomAttributes()
            .Select(reader.GetCustomAttribute)
            .Where(attribute => NameOf(reader, attribute) == "AssemblyMetadataAttribute")
            .Select(attribute => Arguments(reader, attribute))
            .ToDictionary(pair => pair.Key!, pair => pair.Value);
    }

    private static string? NameOf(MetadataReader reader, CustomAttribute attribute)
    {
        if (attribute.Constructor.Kind != HandleKind.MemberReference)
        {
            return null;
        }

        MemberReference constructor = reader.GetMemberReference((MemberReferenceHandle)attribute.Constructor);
        return constructor.Parent.Kind == HandleKind.TypeReference
            ? reader.GetString(reader.GetTypeReference((TypeReferenceHandle)constructor.Parent).Name)
            : null;
    }

    // Two strings, after the two bytes that begin each attribute's arguments.
    private static (string? Key, string? Value) Arguments(MetadataReader reader, CustomAttribute attribute)
    {
        BlobReader blob = reader.GetBlobReader(attribute.Value);
        blob.ReadUInt16();
        return (blob.ReadSerializedString(), blob.ReadSerializedString());
    }
}
