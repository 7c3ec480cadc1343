using System;
using System.Buffers.Binary;
using System.Globalization;
using System.IO;
using System.IO.Compression;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml.Linq;
using Xunit;

namespace Allocator.PackageTests;

/// <summary>What the package says of itself.</summary>
[Collection(nameof(PackedLibrary))]
public partial class MetadataTests(PackedLibrary library)
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
    }

    /// <summary>What a gallery shows has no folder around it that a relative link could lead to.</summary>
    [Fact]
    public void Package_Readme_HasAddressesWhereTheRepositoryHasPaths()
    {
        string address = $"{SourceCopy.Remote}/{{0}}/{library.Commit}/";
        string readme = File.ReadAllText(Path.Combine(library.Sources, "README.md"));
        string expected = PathOfPicture().Replace(readme, "$0" + string.Format(CultureInfo.InvariantCulture, address, "raw"));
        expected = PathOfLink().Replace(expected, "$0" + string.Format(CultureInfo.InvariantCulture, address, "blob"));

        string packed = Encoding.UTF8.GetString(Entry("README.md"));

        Assert.Contains($"](https://github.com/example/allocator/blob/{library.Commit}/docs/design/README.md)", packed);
        Assert.Contains($"](https://github.com/example/allocator/raw/{library.Commit}/benchmarks/", packed);
        Assert.Equal(expected.TrimEnd(), packed.TrimEnd());
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
        string[] lines = File.ReadAllLines(Path.Combine(library.Sources, "CHANGELOG.md"));
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

    [GeneratedRegex(@"!\[[^\]]*\]\((?!https?:)")]
    private static partial Regex PathOfPicture();

    [GeneratedRegex(@"\]\((?!https?:|#)")]
    private static partial Regex PathOfLink();

    private XElement Metadata(string name)
    {
        XElement metadata = XDocument.Load(new MemoryStream(Entry("Allocator.nuspec"))).Root!.Elements()
            .Single(element => element.Name.LocalName == "metadata");
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
