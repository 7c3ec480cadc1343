using System;
using System.Collections.Generic;
using System.IO;
using Allocator.Tests;

namespace Allocator.PackageTests;

/// <summary>The library, packed once for all tests into a folder that serves as a feed, and consumed from there.</summary>
public sealed class PackedLibrary : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("Allocator.PackageTests-");
    private readonly Dictionary<string, string> _environment;

    public PackedLibrary()
    {
        // A cache of its own, and a version that nobody has seen: no package of an earlier build can be taken for this one.
        Version = $"0.0.0-test.{DateTime.UtcNow:yyyyMMddHHmmss}";
        _environment = new Dictionary<string, string> { ["NUGET_PACKAGES"] = Folder("packages") };

        // Into outputs of its own, so that it meddles with no build that is under way.
        CommandLine.Dotnet(
            Repository.Root,
            new Dictionary<string, string>(),
            "pack",
            Repository.PathTo("src", "Allocator"),
            "--configuration",
            "Release",
            "--output",
            Feed,
            $"-p:Version={Version}",
            $"-p:ArtifactsPath={Folder("artifacts")}");
    }

    public string Version { get; }

    public string PackagePath => Path.Combine(Feed, $"Allocator.{Version}.nupkg");

    public string SymbolsPath => Path.Combine(Feed, $"Allocator.{Version}.snupkg");

    /// <summary>Gets the folder that serves as a feed.</summary>
    public string Feed => Folder("feed");

    /// <summary>Makes a new project that references the package and nothing else, and returns its folder.</summary>
    public string NewProject(string name, string targetFramework, string outputType, string code)
    {
        string folder = Folder(name);
        File.WriteAllText(Path.Combine(folder, "Program.cs"), code);
        File.WriteAllText(
            Path.Combine(folder, $"{name}.csproj"),
            $"""
            <Project Sdk="Microsoft.NET.Sdk">
              <PropertyGroup>
                <TargetFramework>{targetFramework}</TargetFramework>
                <OutputType>{outputType}</OutputType>
                <ImplicitUsings>{(targetFramework == "net10.0" ? "enable" : "disable")}</ImplicitUsings>
                <Nullable>enable</Nullable>
                <LangVersion>latest</LangVersion>
                <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
                <UseAppHost>false</UseAppHost>
                <NuGetAudit>false</NuGetAudit>
                <RestoreAdditionalProjectSources>{Feed}</RestoreAdditionalProjectSources>
              </PropertyGroup>
              <ItemGroup>
                <PackageReference Include="Allocator" Version="{Version}" />
              </ItemGroup>
            </Project>
            """);
        return folder;
    }

    /// <summary>Makes a folder for a test, or returns it where it is there.</summary>
    public string Folder(string name) => _folder.CreateSubdirectory(name).FullName;

    public string Dotnet(string folder, params string[] arguments) => CommandLine.Dotnet(folder, _environment, arguments);

    public void Dispose() => _folder.Delete(recursive: true);
}
