using System.Collections.Generic;
using System.IO;
using System.IO.Compression;
using System.Linq;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using Xunit;

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

    private Dictionary<string, string?> Metadata(string framework)
    {
        using ZipArchive archive = ZipFile.OpenRead(library.PackagePath);
        using Stream stream = archive.GetEntry($"lib/{framework}/Allocator.dll")!.Open();
        MemoryStream assembly = new();
        stream.CopyTo(assembly);
        assembly.Position = 0;
        using PEReader image = new(assembly);
        MetadataReader reader = image.GetMetadataReader();
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
