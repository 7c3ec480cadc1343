using System;
using System.Buffers.Binary;
using System.IO;
using System.IO.Compression;
using System.Linq;
using System.Xml.Linq;
using Allocator.Tests;
using Xunit;

namespace Allocator.PackageTests;

/// <summary>What the package says of itself.</summary>
[Collection(nameof(PackedLibrary))]
public class MetadataTests(PackedLibrary library)
{
    [Fact]
    public void Package_Metadata_NamesReadmeLicenceAndTags()
    {
        Assert.Equal("Allocator", Metadata("id").Value);
        Assert.Equal("README.md", Metadata("readme").Value);
        Assert.Equal("expression", Metadata("license").Attribute("type")?.Value);
        Assert.Equal("MIT", Metadata("license").Value);
        Assert.False(string.IsNullOrWhiteSpace(Metadata("description").Value));
        Assert.Contains("imaging", Metadata("tags").Value.Split(' '));
        Assert.Equal(File.ReadAllBytes(Repository.PathTo("README.md")), Entry("README.md"));
    }

    [Fact]
    public void Package_Icon_IsASquareOf128Pixels()
    {
        byte[] icon = Entry(Metadata("icon").Value);

        // A PNG begins with a signature of eight bytes, and its first chunk with the width and the height.
        Assert.Equal([0x89, (byte)'P', (byte)'N', (byte)'G', 0x0D, 0x0A, 0x1A, 0x0A], icon.AsSpan(0, 8).ToArray());
        Assert.Equal(128, BinaryPrimitives.ReadInt32BigEndian(icon.AsSpan(16)));
        Assert.Equal(128, BinaryPrimitives.ReadInt32BigEndian(icon.AsSpan(20)));
    }

    /// <summary>All of the newest section, and nothing of another.</summary>
    [Fact]
    public void Package_ReleaseNotes_AreTheNewestSectionOfTheChangelog()
    {
        string[] lines = File.ReadAllLines(Repository.PathTo("CHANGELOG.md"));
        int heading = Array.FindIndex(lines, line => line.StartsWith("## ", StringComparison.Ordinal));
        string[] section = [.. lines.Skip(heading + 1).TakeWhile(line => !line.StartsWith("## ", StringComparison.Ordinal))];

        string notes = Metadata("releaseNotes").Value;

        Assert.Equal(string.Join('\n', section).Trim(), notes.ReplaceLineEndings("\n"));
        Assert.True(notes.Length <= 35_000, "NuGet galleries refuse more than 35,000 characters.");
    }

    /// <summary>Not the branch: packages of one commit would differ by it.</summary>
    [Fact]
    public void Package_Repository_IsWhereTheSourcesWereClonedFrom()
    {
        XElement repository = Metadata("repository");

        Assert.Equal("git", repository.Attribute("type")?.Value);
        Assert.Equal(SourceCopy.Remote + ".git", repository.Attribute("url")?.Value);
        Assert.Equal(library.Commit, repository.Attribute("commit")?.Value);
        Assert.Null(repository.Attribute("branch"));
    }

    private XElement Metadata(string name)
    {
        XElement metadata = XDocument.Load(new MemoryStream(Entry("Allocator.nuspec"))).Root!.Elements().Single(element => element.Name.LocalName == "metadata");
        return metadata.Elements().Single(element => element.Name.LocalName == name);
    }

    private byte[] Entry(string name)
    {
        using ZipArchive archive = ZipFile.OpenRead(library.PackagePath);
        using Stream stream = archive.GetEntry(name)!.Open();
        MemoryStream bytes = new();
        stream.CopyTo(bytes);
        return bytes.ToArray();
    }
}
