using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using Xunit;

namespace Allocator.Tests;

/// <summary>Holds the stages of the library to the arrows of <c>docs/design.md</c>, by the names that their files use.</summary>
public partial class LayeringTests
{
    private const string Root = "";

    // What each folder may use besides itself. Types of the root namespace are the users' words and may be used anywhere.
    private static readonly Dictionary<string, string[]> s_allowed = new()
    {
        ["Diagnostics"] = [],
        ["Compat"] = [],
        ["Native"] = ["Diagnostics"],
        ["Budgeting"] = ["Native"],
        ["Lifetime"] = ["Budgeting", "Native", "Diagnostics"],
        ["Pooling"] = ["Lifetime", "Budgeting", "Native", "Diagnostics"],
        ["Guarding"] = ["Lifetime", "Budgeting", "Native", "Diagnostics"],
        ["Trimming"] = ["Pooling", "Guarding", "Lifetime", "Budgeting", "Native", "Diagnostics"],
        ["Allocators"] = ["Trimming", "Pooling", "Guarding", "Lifetime", "Budgeting", "Native", "Diagnostics"],
        ["Adapters"] = [],
        [Root] = ["Adapters", "Allocators", "Lifetime", "Budgeting", "Native", "Diagnostics"],
    };

    private static readonly string s_library = Repository.PathTo("src", "Allocator");

    [Fact]
    public void SourceFiles_WhateverTheyUse_FollowTheArrowsBetweenFolders()
    {
        List<string> violations = [];
        foreach ((string folder, string path) in SourceFiles())
        {
            int number = 0;
            foreach (string line in File.ReadLines(path))
            {
                number++;
                violations.AddRange(
                    from used in UsedFolders(line)
                    where used != folder && !s_allowed[folder].Contains(used)
                    select $"{Path.GetRelativePath(s_library, path)}:{number} uses {used}: {line.Trim()}");
            }
        }

        Assert.True(violations.Count == 0, "Against the arrows of LayeringTests:\n" + string.Join('\n', violations));
    }

    [Fact]
    public void ArchitecturePage_TableOfStages_HasTheSameArrows()
    {
        Dictionary<string, string[]> told = File.ReadLines(Repository.PathTo("docs", "architecture.md"))
            .Select(line => line.Trim('|', ' ').Split(" | "))
            .Where(cells => cells.Length == 4 && (cells[0] == "(root)" || s_allowed.ContainsKey(cells[0].Trim('`'))))
            .ToDictionary(
                cells => cells[0] == "(root)" ? Root : cells[0].Trim('`'),
                cells => cells[3] is "–" or "" ? [] : cells[3].Split(", ").Order().ToArray());

        Assert.Equal(s_allowed.Keys.Order(), told.Keys.Order());
        Assert.All(s_allowed, arrows => Assert.Equal(arrows.Value.Order(), told[arrows.Key]));
    }

    [Fact]
    public void SourceFiles_OutsideCompat_HaveTheNamespaceOfTheirFolder()
    {
        List<string> violations = [];
        foreach ((string folder, string path) in SourceFiles().Where(file => file.Folder != "Compat"))
        {
            string expected = folder == Root ? "namespace Allocator;" : $"namespace Allocator.{folder};";
            if (!File.ReadLines(path).Contains(expected))
            {
                violations.Add($"{Path.GetRelativePath(s_library, path)} lacks `{expected}`");
            }
        }

        Assert.True(violations.Count == 0, string.Join('\n', violations));
    }

    [Fact]
    public void Folders_OfTheLibrary_AreTheStagesOfTheTable()
    {
        IEnumerable<string> unknown = SourceFiles().Select(file => file.Folder).Distinct().Where(folder => !s_allowed.ContainsKey(folder));

        Assert.Empty(unknown);
    }

    private static IEnumerable<(string Folder, string Path)> SourceFiles() =>
        from path in Directory.EnumerateFiles(s_library, "*.cs", SearchOption.AllDirectories)
        let parts = Path.GetRelativePath(s_library, path).Split(Path.DirectorySeparatorChar)
        where parts[0] is not ("bin" or "obj")
        select (parts.Length == 1 ? Root : parts[0], path);

    // By `using`, or by a qualified name: inside the namespace Allocator, `Pooling.X` names a type without any `using`.
    private static IEnumerable<string> UsedFolders(string line) =>
        line.TrimStart().StartsWith("//", StringComparison.Ordinal) || line.StartsWith("namespace ", StringComparison.Ordinal)
            ? []
            : FolderName().Matches(line).Select(match => match.Groups["folder"].Value);

    [GeneratedRegex(@"(?<![\w.])(?:using (?:static |\w+ = )?)?(?:global::)?(?:Allocator\.(?<folder>Diagnostics|Compat|Native|Lifetime|Pooling|Trimming|Allocators|Adapters)\b|(?<folder>Native|Lifetime|Pooling|Trimming|Allocators|Adapters)\.[A-Z])")]
    private static partial Regex FolderName();
}
