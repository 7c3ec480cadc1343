using System.Text.RegularExpressions;

namespace Allocator.PackageTests;

/// <summary>
/// Projects that break ALLOC001 and ALLOC004, with a folder for each way to say how loud the rules are. Of each there are two: one that
/// references the package, and one that references a project that does.
/// </summary>
internal static partial class AnalyzedProjects
{
    private const string Code =
        """
        using System;
        using System.Buffers;
        using Allocator;

        public static class Breach
        {
            public static byte Finalizable()
            {
                IMemoryOwner<byte> owner = MemoryAllocator.Default.Allocate<byte>(64);
                Span<byte> span = owner.Memory.Span;
                return span[0];
            }

            public static int NeverDisposed()
            {
                IMemoryOwner<byte> owner = MemoryAllocator.Default.Allocate<byte>(64);
                return owner.Memory.Length;
            }
        }
        """;

    // What stands between them is silent itself, and changes nothing for others.
    private const string Middle = "Middle";

    // What a folder's .editorconfig says holds for that folder, so these are one project.
    private static readonly ConsumerSwitch[] s_configured =
    [
        new("Default"),
        new("ConfiguredById", Config: "dotnet_diagnostic.ALLOC001.severity = none\ndotnet_diagnostic.ALLOC004.severity = warning"),
        new("ConfiguredByCategory", Config: "dotnet_analyzer_diagnostic.category-Allocator.Lifetime.severity = warning"),
        new("SilencedByCategory", Config: "dotnet_analyzer_diagnostic.category-Allocator.Lifetime.severity = none"),
    ];

    private static readonly ConsumerSwitch[] s_projects =
    [
        new("NoWarn", Properties: "<NoWarn>$(NoWarn);ALLOC001</NoWarn>"),
        new(
            "NotAsErrors",
            Properties: "<TreatWarningsAsErrors>true</TreatWarningsAsErrors>"
                + "<WarningsNotAsErrors>ALLOC001;ALLOC004</WarningsNotAsErrors>"),
        new("SwitchedOff", Properties: "<AllocatorAnalyzers>false</AllocatorAnalyzers>"),
    ];

    /// <summary>Writes them, and returns their project files.</summary>
    public static IEnumerable<string> Write(PackedLibrary library)
    {
        yield return WriteProject(library, Middle, library.PackageReference, properties: "", []);
        foreach (bool isTransitive in new[] { false, true })
        {
            string reference = isTransitive ? $"""<ProjectReference Include="../{Middle}/{Middle}.csproj" />""" : library.PackageReference;
            yield return WriteProject(library, Prefix(isTransitive) + "Configured", reference, properties: "", s_configured);
            foreach (ConsumerSwitch choice in s_projects)
            {
                yield return WriteProject(library, Prefix(isTransitive) + choice.Name, reference, choice.Properties, [choice]);
            }
        }
    }

    /// <summary>Reads from what a build printed which rules warned of which folder.</summary>
    public static ILookup<string, string> Warnings(string printed) => Warning().Matches(printed).ToLookup(
        match => match.Groups["prefix"].Value + match.Groups["folder"].Value,
        match => match.Groups["id"].Value);

    /// <summary>Returns by what the warnings of a folder are found.</summary>
    public static string Key(string choice, bool isTransitive) => Prefix(isTransitive) + choice;

    private static string Prefix(bool isTransitive) => isTransitive ? "Transitive" : "Direct";

    private static string WriteProject(PackedLibrary library, string name, string reference, string properties, ConsumerSwitch[] folders)
    {
        string project = library.Folder(Path.Combine("consumers", name));
        File.WriteAllText(Path.Combine(project, ".editorconfig"), "root = true\n");
        foreach (ConsumerSwitch choice in folders)
        {
            string folder = library.Folder(Path.Combine("consumers", name, choice.Name));
            File.WriteAllText(
                Path.Combine(folder, "Code.cs"), Code.Replace("class Breach", $"class {choice.Name}", System.StringComparison.Ordinal));
            File.WriteAllText(Path.Combine(folder, ".editorconfig"), $"[*.cs]\n{choice.Config}\n");
        }

        string path = Path.Combine(project, $"{name}.csproj");
        File.WriteAllText(path, library.Project($"<TargetFramework>net10.0</TargetFramework>{properties}", reference));
        return path;
    }

    [GeneratedRegex(@"[\\/](?<prefix>Direct|Transitive)\w+[\\/](?<folder>\w+)[\\/]Code\.cs\(\d+,\d+\): warning (?<id>\w+):")]
    private static partial Regex Warning();
}
