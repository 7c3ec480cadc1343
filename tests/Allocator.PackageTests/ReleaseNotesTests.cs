namespace Allocator.PackageTests;

/// <summary>Which part of a changelog becomes the release notes.</summary>
[Collection(nameof(PackedLibrary))]
public class ReleaseNotesTests(PackedLibrary library)
{
    private const string Changelog =
        """
        # Changelog

        ## 1.2.0-beta

        - Of the beta.

        ## 1.2.0 (2026-01-01)

        Text with; a semicolon, 100 % and `$(Property)`.

        ### A heading within

        - The last line.

        ## 1.1.0

        - Of the version before.

        ## 1.2

        - Of another version.
        """;

    [Theory]
    [InlineData("1.2.0", "Text with; a semicolon, 100 % and `$(Property)`.\n\n### A heading within\n\n- The last line.")]
    [InlineData("1.2.0-beta", "- Of the beta.")]
    [InlineData("1.2", "- Of another version.")]
    public void ReleaseNotes_OfAVersion_AreItsSection(string version, string expected) =>
        Assert.Equal(expected, Read(version).Trim().ReplaceLineEndings("\n"));

    [Fact]
    public void ReleaseNotes_OfAVersionWithoutASection_AreAnError()
    {
        InvalidOperationException exception = Assert.Throws<InvalidOperationException>(() => Read("1.3.0"));

        Assert.Contains("There is no section '## 1.3.0'", exception.Message, StringComparison.Ordinal);
    }

    private string Read(string version)
    {
        string path = Path.Combine(library.Folder("changelog"), "CHANGELOG.md");
        File.WriteAllText(path, Changelog);
        return library.Dotnet(
            Path.Combine(library.Sources, "src", "Allocator"),
            "msbuild",
            "-target:ReadReleaseNotes",
            "-getProperty:PackageReleaseNotes",
            $"-property:VersionPrefix={version}",
            $"-property:ChangelogPath={path}");
    }
}
