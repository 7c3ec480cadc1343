using Allocator.Tests;

namespace Allocator.PackageTests;

/// <summary>
/// The library, packed once for all tests from a copy of the sources into a folder that serves as a feed, and consumed from there.
/// </summary>
public sealed class PackedLibrary : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("Allocator.PackageTests-");
    private readonly Dictionary<string, string> _environment;
    private readonly Lazy<BuiltConsumers> _consumers;

    public PackedLibrary()
    {
        // A cache of its own, and a version that no build has had: no package of an earlier build can be taken for this one.
        Version = $"0.0.0-test.{DateTime.UtcNow:yyyyMMddHHmmss}";
        _environment = new Dictionary<string, string> { ["NUGET_PACKAGES"] = Folder("packages") };

        // What others have published need not be fetched again.
        string cache = Environment.GetEnvironmentVariable("NUGET_PACKAGES")
            ?? Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".nuget", "packages");
        if (Directory.Exists(cache))
        {
            _environment["NUGET_FALLBACK_PACKAGES"] = cache;
        }

        try
        {
            SourceCopy.Make(Repository.Root, Sources);
            Commit = SourceCopy.Commit(Sources);
            Pack(Sources, Feed, new Dictionary<string, string>());
        }
        catch
        {
            _folder.Delete(recursive: true);
            throw;
        }

        _consumers = new Lazy<BuiltConsumers>(() => new BuiltConsumers(this));
    }

    public string Version { get; }

    /// <summary>Gets the commit that the sources are at, uncommitted changes aside.</summary>
    public string Commit { get; }

    /// <summary>Gets the folder of the sources that were packed.</summary>
    public string Sources => Folder("sources");

    public string PackagePath => Path.Combine(Feed, $"Allocator.{Version}.nupkg");

    public string SymbolsPath => Path.Combine(Feed, $"Allocator.{Version}.snupkg");

    /// <summary>Gets the package for web applications.</summary>
    public string WebPackagePath => Path.Combine(Feed, $"Allocator.AspNetCore.{Version}.nupkg");

    /// <summary>Gets the package for SkiaSharp.</summary>
    public string SkiaPackagePath => Path.Combine(Feed, $"Allocator.SkiaSharp.{Version}.nupkg");

    /// <summary>Gets the package of sources for ImageSharp.</summary>
    public string ImageSharpPackagePath => Path.Combine(Feed, $"Allocator.ImageSharp.{Version}.nupkg");

    /// <summary>Gets the folder that serves as a feed.</summary>
    public string Feed => Folder("feed");

    /// <summary>Gets the projects that were built against the package: all at once, when the first test asks.</summary>
    internal BuiltConsumers Consumers => _consumers.Value;

    /// <summary>Packs the library of a copy of the sources, and what belongs to it, at once: most of a build is its start.</summary>
    public void Pack(string sources, string output, IReadOnlyDictionary<string, string> environment)
    {
        // What a project references is built in Release if it is listed too.
        IEnumerable<string> projects = new[]
            {
                "Allocator", "Allocator.AspNetCore", "Allocator.SkiaSharp", "Allocator.ImageSharp", "Allocator.Analyzers",
                "Allocator.CodeFixes",
            }
            .Select(name => $"""<Project Path="src/{name}/{name}.csproj" />""");
        File.WriteAllText(Path.Combine(sources, "Packed.slnx"), $"<Solution>{string.Concat(projects)}</Solution>");
        CommandLine.Run(
            "dotnet",
            sources,
            environment,
            "pack",
            "Packed.slnx",
            "--configuration",
            "Release",
            "--output",
            output,
            $"-p:Version={Version}",
            // They say nothing about the package, and take a third of the time.
            "-p:RunAnalyzers=false");
    }

    /// <summary>Writes a new project that references a package and nothing else, and returns its folder.</summary>
    public string NewProject(string name, string code, string properties, string package = "Allocator")
    {
        string folder = Folder(name);
        File.WriteAllText(Path.Combine(folder, "Program.cs"), code);
        File.WriteAllText(Path.Combine(folder, $"{Path.GetFileName(name)}.csproj"), Project(properties, Reference(package)));
        return folder;
    }

    /// <summary>Makes a folder for a test, or returns it where it is there.</summary>
    public string Folder(string name) => _folder.CreateSubdirectory(name).FullName;

    public string Dotnet(string folder, params string[] arguments) => CommandLine.Run("dotnet", folder, _environment, arguments);

    public void Dispose() => _folder.Delete(recursive: true);

    internal string PackageReference => Reference("Allocator");

    /// <summary>Returns a project file.</summary>
    internal string Project(string properties, string reference) =>
        $"""
        <Project Sdk="Microsoft.NET.Sdk">
          <PropertyGroup>
            <Nullable>enable</Nullable>
            <LangVersion>latest</LangVersion>
            <UseAppHost>false</UseAppHost>
            <EnableNETAnalyzers>false</EnableNETAnalyzers>
            <NuGetAudit>false</NuGetAudit>
            <RestoreAdditionalProjectSources>{Feed}</RestoreAdditionalProjectSources>
            {properties}
          </PropertyGroup>
          <ItemGroup>{reference}</ItemGroup>
        </Project>
        """;

    private string Reference(string package) => $"""<PackageReference Include="{package}" Version="{Version}" />""";
}
