namespace Allocator.PackageTests;

/// <summary>Which part of a changelog becomes the release notes of a package.</summary>
[Collection(nameof(PackedLibrary))]
public class ReleaseNotesTests(PackedLibrary library)
{
    private const string Changelog =
        """
        # Changelog

        ## 1.2.0-beta

        ### Allocator

        - Of the beta.

        ## 1.2.0 (2026-01-01)

        For all packages.

        ### Allocator.Extra

        - Of another package, [which](docs/extra.md) is not this one.

        ### Allocator

        Text with; a semicolon, 100 % and `$(Property)`, [a page](docs/page.md#part) and [a site](https://example.org).

        - The last line.

        ### Allocator.More

        - Of a third one.

        ## 1.1.0

        ### Allocator

        - Of the version before.

        ## 1.2

        ### Allocator

        - Of another version.

        ## 1.0.0

        ### Allocator.Extra

        - Of another package alone.
        """;

    [Theory]
    [InlineData(
        "1.2.0",
        "Text with; a semicolon, 100 % and `$(Property)`, "
            + "a page (https://github.com/example/allocator/blob/abc/docs/page.md#part) and [a site](https://example.org).\n\n"
            + "- The last line.")]
    [InlineData("1.2.0-beta", "- Of the beta.")]
    [InlineData("1.2", "- Of another version.")]
    public void ReleaseNotes_OfAVersion_AreTheSectionOfThePackage(string version, string expected) =>
        Assert.Equal(expected, Read(version, SourceCopy.Remote));

    [Fact]
    public void ReleaseNotes_WithoutAPublicRepository_HaveTheTextsOfTheirLinks() =>
        Assert.StartsWith(
            "Text with; a semicolon, 100 % and `$(Property)`, a page and [a site](https://example.org).", Read("1.2.0", ""),
            StringComparison.Ordinal);

    [Theory]
    [InlineData("1.3.0")]
    [InlineData("1.0.0")]
    public void ReleaseNotes_OfAVersionWithoutASection_AreAnError(string version)
    {
        InvalidOperationException exception = Assert.Throws<InvalidOperationException>(() => Read(version, ""));

        Assert.Contains($"There is no section '### Allocator' below '## {version}'", exception.Message, StringComparison.Ordinal);
    }

    private string Read(string version, string repository)
    {
        string path = Path.Combine(library.Folder("changelog"), "CHANGELOG.md");
        File.WriteAllText(path, Changelog);
        string notes = library.Dotnet(
            Path.Combine(library.Sources, "src", "Allocator"),
            "msbuild",
            "-target:ReadReleaseNotes",
            "-getProperty:PackageReleaseNotes",
            $"-property:VersionPrefix={version}",
            $"-property:ChangelogPath={path}",
            $"-property:RepositoryUrl={repository}",
            "-property:RepositoryCommit=abc");
        return notes.Trim().ReplaceLineEndings("\n");
    }
}
