using System.Buffers.Binary;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml.Linq;

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
        string pictures = $"https://raw.githubusercontent.com/example/allocator/{library.Commit}/";
        string links = $"{SourceCopy.Remote}/blob/{library.Commit}/";
        string readme = Marks().Replace(File.ReadAllText(Path.Combine(library.Sources, "README.md")), "");
        string expected = PathOfPicture().Replace(readme, "$0" + pictures);
        expected = PathOfLink().Replace(expected, "$0" + links);

        string packed = Encoding.UTF8.GetString(Entry("README.md"));

        Assert.Contains($"](https://github.com/example/allocator/blob/{library.Commit}/docs/design/README.md)", packed);
        Assert.Contains($"](https://raw.githubusercontent.com/example/allocator/{library.Commit}/benchmarks/", packed);
        Assert.Equal(expected.TrimEnd(), packed.TrimEnd());
    }

    /// <summary>Nothing says where the repository is: no link leads nowhere, and no word is lost but of links that stand for themselves.</summary>
    [Theory]
    [InlineData("Allocator", "README.md")]
    [InlineData("Allocator.AspNetCore", "docs/integrations/aspnetcore.md")]
    [InlineData("Allocator.SkiaSharp", "docs/integrations/skiasharp.md")]
    public void Readme_WithoutAPublicRepository_HasTheTextsOfItsLinks(string project, string document)
    {
        string path = Path.Combine(library.Folder("readme"), project + ".md");
        library.Dotnet(
            Path.Combine(library.Sources, "src", project),
            "msbuild",
            "-target:WritePackageReadme",
            "-property:RepositoryUrl=",
            $"-property:PackageReadmePath={path}");
        string readme = File.ReadAllText(path);
        string source = Marks().Replace(File.ReadAllText(Path.Combine(library.Sources, document)), "");

        Assert.DoesNotContain(Targets().Matches(readme).Select(match => match.Groups["target"].Value), IsOfTheRepository);
        Assert.Contains(Targets().Matches(source).Select(match => match.Groups["target"].Value), IsOfTheRepository);
        Assert.Equal(WithoutTargets(LinksAlone().Replace(source, "")), WithoutTargets(readme));
        Assert.DoesNotContain("## More", readme, StringComparison.Ordinal);
    }

    /// <summary>Of all packages: what is packed beside it, or an address that is whole.</summary>
    [Fact]
    public void Readmes_EachLinkAndPicture_HasAnAddress()
    {
        string[] targets =
        [
            .. from package in new[] { library.PackagePath, library.WebPackagePath, library.SkiaPackagePath }
               from Match match in Targets().Matches(Encoding.UTF8.GetString(Entry("README.md", package)))
               select match.Groups["target"].Value,
        ];

        Assert.True(targets.Length > 30, $"{targets.Length} links");
        Assert.DoesNotContain(targets, IsOfTheRepository);
        Assert.All(
            targets.Where(target => target.StartsWith("http", StringComparison.Ordinal)),
            target => Assert.True(Uri.TryCreate(target, UriKind.Absolute, out _), target));
    }

    [Fact]
    public void Package_ProjectUrl_IsTheRepository() => Assert.Equal(SourceCopy.Remote, Metadata("projectUrl").Value);

    [Fact]
    public void Package_Icon_IsASquareOf128Pixels()
    {
        byte[] icon = Entry(Metadata("icon").Value);

        // A PNG begins with a signature of eight bytes, and its first chunk with the width and the height.
        Assert.Equal([0x89, (byte)'P', (byte)'N', (byte)'G', 0x0D, 0x0A, 0x1A, 0x0A], icon.AsSpan(0, 8).ToArray());
        Assert.Equal(128, BinaryPrimitives.ReadInt32BigEndian(icon.AsSpan(16)));
        Assert.Equal(128, BinaryPrimitives.ReadInt32BigEndian(icon.AsSpan(20)));
    }

    /// <summary>Each package has notes of its own, and each link in them is whole.</summary>
    [Fact]
    public void ReleaseNotes_OfEachPackage_AreItsOwnAndLinkToThisCommit()
    {
        string[] packages = [library.PackagePath, library.WebPackagePath, library.SkiaPackagePath, library.ImageSharpPackagePath];
        string[] notes = [.. packages.Select(package => Metadata("releaseNotes", package).Value)];

        Assert.Distinct(notes);
        Assert.All(notes, one =>
        {
            Assert.Contains($" ({SourceCopy.Remote}/blob/{library.Commit}/docs/", one, StringComparison.Ordinal);
            Assert.DoesNotContain("](", one, StringComparison.Ordinal);
            Assert.InRange(one.Length, 1, 35_000);   // NuGet galleries refuse more.
        });
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

    private static bool IsOfTheRepository(string target) =>
        !target.StartsWith("https://", StringComparison.Ordinal) && !target.StartsWith('#');

    // The words of a text, links by their texts, pictures not at all.
    private static string[] WithoutTargets(string text) =>
        Link().Replace(Picture().Replace(text, ""), "$1").Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);

    // Behind the last sentence of a line, or a list of them: their texts say nothing.
    [GeneratedRegex(@"(?m)(?<=\.)(?:,? \[[^\]]*\]\((?!https?:|#)[^)]*\))+$|^## More\n[^#]*")]
    private static partial Regex LinksAlone();

    [GeneratedRegex("<!--[^>]*-->")]
    private static partial Regex Marks();

    [GeneratedRegex(@"\]\((?<target>[^)]*)\)")]
    private static partial Regex Targets();

    [GeneratedRegex(@"!\[[^\]]*\]\([^)]*\)")]
    private static partial Regex Picture();

    [GeneratedRegex(@"\[([^\]]*)\]\([^)]*\)")]
    private static partial Regex Link();

    [GeneratedRegex(@"!\[[^\]]*\]\((?!https?:)")]
    private static partial Regex PathOfPicture();

    [GeneratedRegex(@"\]\((?!https?:|#)")]
    private static partial Regex PathOfLink();

    private XElement Metadata(string name, string? package = null)
    {
        using ZipArchive archive = ZipFile.OpenRead(package ?? library.PackagePath);
        ZipArchiveEntry nuspec = archive.Entries.Single(static entry => entry.FullName.EndsWith(".nuspec", StringComparison.Ordinal));
        using Stream stream = nuspec.Open();
        XElement metadata = XDocument.Load(stream).Root!.Elements().Single(element => element.Name.LocalName == "metadata");
        return metadata.Elements().Single(element => element.Name.LocalName == name);
    }

    private byte[] Entry(string name, string? package = null)
    {
        using ZipArchive archive = ZipFile.OpenRead(package ?? library.PackagePath);
        using Stream stream = archive.GetEntry(name)!.Open();
        MemoryStream bytes = new();
        stream.CopyTo(bytes);
        return bytes.ToArray();
    }
}
