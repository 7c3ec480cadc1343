namespace Allocator.Tests.Documentation;

/// <summary>
/// The code of <c>docs/integrations/code</c> is for packages that are not on the feed. It is compiled against declarations of the members
/// that it uses, written by hand from their documentation: that finds what is wrong on this side, and cannot tell whether the declarations
/// are right.
/// </summary>
public class IntegrationCodeTests
{
    private static readonly string s_folder = Repository.PathTo("docs", "integrations", "code");

    private static readonly string s_declarations = Repository.PathTo("tests", "Allocator.Tests", "Documentation", "Declarations");

    // A file that uses others of the folder is compiled with these, and with their declarations.
    private static readonly Dictionary<string, string[]> s_used = new()
    {
        ["ImageSharpAdmission.cs"] = ["ImageSharpAllocator.cs"],
        ["ImageSharpWebAdmission.cs"] = ["ImageSharpAllocator.cs", "ImageSharpAdmission.cs"],
    };

    public static TheoryData<string> Files() =>
        [.. Directory.EnumerateFiles(s_folder, "*.cs").Select(path => Path.GetFileName(path)!).Order()];

    [Theory]
    [MemberData(nameof(Files))]
    public void File_AgainstDeclarationsOfTheLibrary_Compiles(string file)
    {
        string[] files = [file, .. s_used.GetValueOrDefault(file, [])];
        IReadOnlyList<string> complaints = ExampleCompiler.CompileFiles(
            files.SelectMany(name => (string[])[Path.Combine(s_folder, name), Path.Combine(s_declarations, name)]));
        Assert.True(complaints.Count == 0, string.Join('\n', complaints));
    }

    [Theory]
    [MemberData(nameof(Files))]
    public void File_OfTheFolder_IsNamedByAGuide(string file) =>
        Assert.Contains(
            Directory.EnumerateFiles(Path.GetDirectoryName(s_folder)!, "*.md"),
            guide => File.ReadAllText(guide).Contains($"(code/{file})", System.StringComparison.Ordinal));
}
