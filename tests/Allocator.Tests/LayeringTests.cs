using System.Text.RegularExpressions;

namespace Allocator.Tests;

/// <summary>Holds the folders of the library to the table of <c>docs/architecture.md</c>, by the names that their files use.</summary>
public partial class LayeringTests
{
    private const string Root = "(root)";

    private static readonly string s_library = Repository.PathTo("src", "Allocator");
    private static readonly string s_page = File.ReadAllText(Repository.PathTo("docs", "architecture.md"));
    private static readonly Dictionary<string, string[]> s_mayUse = ReadTable(s_page);

    // Of the root, which are otherwise the users' words: its classes that every folder may use.
    private static readonly string[] s_beneathAll = [.. ReadBeneathAll(s_page)];

    public static TheoryData<string> Folders => [.. SourceFiles().Select(static file => file.Folder).Distinct()];

    [Theory]
    [MemberData(nameof(Folders))]
    public void Files_OfAFolder_UseOnlyWhatItsRowAllows(string folder)
    {
        Assert.True(s_mayUse.ContainsKey(folder), $"{folder} is in no row of docs/architecture.md.");

        string[] violations =
        [
            .. from file in SourceFiles()
               where file.Folder == folder
               from violation in Violations(folder, File.ReadAllText(file.Path))
               select $"{Path.GetRelativePath(s_library, file.Path)}{violation}",
        ];

        Assert.True(violations.Length == 0, "Against the table of docs/architecture.md:\n" + string.Join('\n', violations));
    }

    [Fact]
    public void ArchitecturePage_Rows_AreTheExistingFolders() =>
        Assert.Equal(SourceFiles().Select(static file => file.Folder).Distinct().Order(), s_mayUse.Keys.Order());

    [Fact]
    public void ArchitecturePage_Dependencies_HaveNoCycleBelowTheRoot()
    {
        List<string> left = [.. s_mayUse.Keys.Where(static folder => folder != Root)];
        while (left.RemoveAll(folder => !s_mayUse[folder].Any(left.Contains)) > 0)
        {
        }

        Assert.Empty(left);
    }

    [Theory]
    [InlineData("Native", "using Allocator.Budgeting;")]
    [InlineData("Native", "using static Allocator.Budgeting.MemoryBudget;")]
    [InlineData("Native", "using Budget = Allocator.Budgeting.MemoryBudget;")]
    [InlineData("Lifetime", "using Allocator.Guarding;")]
    [InlineData("Pooling", "    private readonly Trimming.PoolTrimmer _trimmer;")]
    [InlineData("Pooling", "    private readonly global::Allocator.Trimming.PoolTrimmer _trimmer;")]
    [InlineData("Diagnostics", "        Native.LibC.MallocTrim(0);")]
    [InlineData("Pooling", "    private readonly MemoryAllocator _allocator;")]
    [InlineData("Trimming", "    public void Trim(MemoryReservation reservation)")]
    [InlineData("Compat", "using Allocator.Lifetime;")]
    public void Violations_ForbiddenUse_IsFound(string folder, string line) => Assert.Single(Violations(folder, $"// Why.\n{line}\n"));

    [Theory]
    [InlineData("Lifetime", "using Allocator.Native;")]
    [InlineData("Lifetime", "namespace Allocator.Lifetime;")]
    [InlineData("Pooling", "/// <summary>See <see cref=\"Allocator.Trimming.PoolTrimmer\"/> of MemoryAllocator.</summary>")]
    [InlineData("Native", "    public NativeMemorySource Create(MemoryAllocatorOptions options, HugePages pages)")]
    [InlineData("Adapters", "    private readonly MemoryAllocator _allocator;")]
    [InlineData("Native", "    private readonly ShortLock _lock = new();")]
    [InlineData("Diagnostics", "    public MemoryBudgeting.Thing X;")]
    public void Violations_AllowedUse_IsNone(string folder, string line) => Assert.Empty(Violations(folder, $"// Why.\n{line}\n"));

    [Fact]
    public void SourceFiles_OutsideCompat_HaveTheNamespaceOfTheirFolder()
    {
        List<string> violations = [];
        foreach ((string folder, string path) in SourceFiles().Where(static file => file.Folder != "Compat"))
        {
            string expected = folder == Root ? "namespace Allocator;" : $"namespace Allocator.{folder};";
            if (!File.ReadLines(path).Contains(expected))
            {
                violations.Add($"{Path.GetRelativePath(s_library, path)} lacks `{expected}`");
            }
        }

        Assert.True(violations.Count == 0, string.Join('\n', violations));
    }

    // Rows are | `Folder` | … | … | what it may use, separated by commas, or – |.
    private static Dictionary<string, string[]> ReadTable(string page) =>
        page.Split('\n')
            .Select(static line => line.Trim('|', ' ').Split(" | "))
            .Where(static cells => cells.Length == 4 && (cells[0] == Root || FolderCell().IsMatch(cells[0])))
            .ToDictionary(static cells => cells[0].Trim('`'), static cells => cells[3] == "–" ? [] : cells[3].Split(", "));

    private static IEnumerable<string> ReadBeneathAll(string page) =>
        Quoted().Matches(page.Split('\n').Single(static line => line.StartsWith("Beneath all folders", StringComparison.Ordinal)))
            .Select(static match => match.Groups[1].Value);

    private static IEnumerable<(string Folder, string Path)> SourceFiles() =>
        from path in Directory.EnumerateFiles(s_library, "*.cs", SearchOption.AllDirectories)
        let parts = Path.GetRelativePath(s_library, path).Split(Path.DirectorySeparatorChar)
        where parts[0] is not ("bin" or "obj")
        select (parts.Length == 1 ? Root : parts[0], path);

    // By `using`, by a qualified name (inside the namespace Allocator, `Pooling.X` names a type without any `using`), or by the name of a
    // class of the root.
    private static IEnumerable<string> Violations(string folder, string text)
    {
        int number = 0;
        foreach (string line in text.Split('\n'))
        {
            number++;
            if (line.TrimStart().StartsWith("//", StringComparison.Ordinal) || line.StartsWith("namespace ", StringComparison.Ordinal))
            {
                continue;
            }

            IEnumerable<string> used = QualifiedName().Matches(line).Select(static match => match.Groups["folder"].Value)
                .Where(s_mayUse.ContainsKey)
                .Concat(folder == Root
                    ? []
                    : Word().Matches(line).Where(static match => IsRootClass(match.Value)).Select(static _ => Root));
            foreach (string other in used.Distinct().Where(other => other != folder && !s_mayUse[folder].Contains(other)))
            {
                yield return $":{number} uses {other}: {line.Trim()}";
            }
        }
    }

    // Options, exceptions and enums may be used by all; and structs, which have no way back.
    private static bool IsRootClass(string name) =>
        RootClasses.Value.Contains(name) && !s_beneathAll.Contains(name);

    [GeneratedRegex("^`[A-Z][A-Za-z]+`$")]
    private static partial Regex FolderCell();

    [GeneratedRegex("`([A-Za-z]+)`")]
    private static partial Regex Quoted();

    [GeneratedRegex(@"(?<![\w.])(?:global::)?(?:Allocator\.)?(?<folder>[A-Z][A-Za-z]+)(?=[.;])")]
    private static partial Regex QualifiedName();

    [GeneratedRegex(@"(?<![\w.])[A-Z]\w+")]
    private static partial Regex Word();

    [GeneratedRegex(@"^(?:public |internal |static |abstract |sealed |unsafe |partial )+(?:class|interface) (?<name>\w+)",
        RegexOptions.Multiline)]
    private static partial Regex ClassDeclaration();

    private static class RootClasses
    {
        public static readonly HashSet<string> Value =
        [
            .. from file in SourceFiles()
               where file.Folder == Root
               from Match match in ClassDeclaration().Matches(File.ReadAllText(file.Path))
               let name = match.Groups["name"].Value
               where !name.EndsWith("Options", StringComparison.Ordinal) && !name.EndsWith("Exception", StringComparison.Ordinal)
               select name,
        ];
    }
}
