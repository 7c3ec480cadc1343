using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;

namespace Allocator.PackageTests;

/// <summary>
/// Projects that break ALLOC001 and ALLOC004, each with a switch of its own, built all at once. Of each there are two: one that
/// references the package, and one that references a project that does.
/// </summary>
public sealed partial class AnalyzedConsumers
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

    // What stands between them is silent itself, and speaks for nobody else.
    private const string Middle = "Middle";

    private static readonly ConsumerSwitch[] s_switches =
    [
        new("Default"),
        new("ConfiguredById", Config: "dotnet_diagnostic.ALLOC001.severity = none\ndotnet_diagnostic.ALLOC004.severity = warning"),
        new("ConfiguredByCategory", Config: "dotnet_analyzer_diagnostic.category-Allocator.Lifetime.severity = warning"),
        new("SilencedByCategory", Config: "dotnet_analyzer_diagnostic.category-Allocator.Lifetime.severity = none"),
        new("NoWarn", Properties: "<NoWarn>$(NoWarn);ALLOC001</NoWarn>"),
        new("NotAsErrors", Properties: "<TreatWarningsAsErrors>true</TreatWarningsAsErrors><WarningsNotAsErrors>ALLOC001</WarningsNotAsErrors>"),
        new("SwitchedOff", Properties: "<AllocatorAnalyzers>false</AllocatorAnalyzers>"),
    ];

    private readonly PackedLibrary _library;
    private readonly string _folder;
    private readonly ILookup<string, string> _warnings;

    public AnalyzedConsumers(PackedLibrary library)
    {
        _library = library;
        _folder = library.Folder("analyzed");
        string package = $"""<PackageReference Include="Allocator" Version="{library.Version}" />""";
        string project = $"""<ProjectReference Include="../{Middle}/{Middle}.csproj" />""";
        Write(Middle, new ConsumerSwitch(Middle), package, code: "");
        foreach (ConsumerSwitch choice in s_switches)
        {
            Write(NameOf(choice.Name, isTransitive: false), choice, package, Code);
            Write(NameOf(choice.Name, isTransitive: true), choice, project, Code);
        }

        IEnumerable<string> projects = Directory.EnumerateFiles(_folder, "*.csproj", SearchOption.AllDirectories);
        File.WriteAllText(
            Path.Combine(_folder, "Consumers.slnx"),
            $"<Solution>{string.Concat(projects.Select(path => $"""<Project Path="{path}" />"""))}</Solution>");
        string printed = library.Dotnet(_folder, "build", "Consumers.slnx");
        _warnings = Warning().Matches(printed).ToLookup(match => match.Groups["project"].Value, match => match.Groups["id"].Value);
    }

    /// <summary>Gives the ids of the warnings of one consumer.</summary>
    public IEnumerable<string> Warnings(string choice, bool isTransitive) => _warnings[NameOf(choice, isTransitive)].Distinct().Order();

    private static string NameOf(string choice, bool isTransitive) => (isTransitive ? "Transitive" : "Direct") + choice;

    [GeneratedRegex(@": warning (?<id>\w+): .*[\\/](?<project>\w+)\.csproj\]")]
    private static partial Regex Warning();

    private void Write(string name, ConsumerSwitch choice, string reference, string code)
    {
        string folder = _library.Folder(Path.Combine("analyzed", name));
        File.WriteAllText(Path.Combine(folder, "Code.cs"), code);
        File.WriteAllText(Path.Combine(folder, ".editorconfig"), $"root = true\n\n[*.cs]\n{choice.Config}\n");
        File.WriteAllText(
            Path.Combine(folder, $"{name}.csproj"),
            $"""
            <Project Sdk="Microsoft.NET.Sdk">
              <PropertyGroup>
                <TargetFramework>net10.0</TargetFramework>
                <Nullable>enable</Nullable>
                <NuGetAudit>false</NuGetAudit>
                <RestoreAdditionalProjectSources>{_library.Feed}</RestoreAdditionalProjectSources>
                {choice.Properties}
              </PropertyGroup>
              <ItemGroup>{reference}</ItemGroup>
            </Project>
            """);
    }
}
