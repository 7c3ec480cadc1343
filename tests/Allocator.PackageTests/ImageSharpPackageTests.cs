using System.Xml.Linq;

namespace Allocator.PackageTests;

/// <summary>
/// The package of sources for ImageSharp, consumed with the real version 2, and with stand-in assemblies of the others: the declarations
/// that its behaviour is tested against, packed. These versions are not on the feed.
/// </summary>
[Collection(nameof(PackedLibrary))]
public class ImageSharpPackageTests(PackedLibrary library)
{
    private const string Web = "SixLabors.ImageSharp.Web";

    /// <summary>What a new console project has, and ten lines.</summary>
    private const string Program =
        """
        using Allocator;
        using SixLabors.ImageSharp;

        using MemoryAllocator pool = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 200 });
        Configuration.Default.MemoryAllocator = new ImageSharpAllocator(pool);
        using (var pixels = Configuration.Default.MemoryAllocator.Allocate<byte>(3_000_000))
        {
            Console.WriteLine($"{typeof(Configuration).Assembly.GetName().Version!.Major}: {pool.GetStatistics().OutstandingAllocations}");
        }

        Console.WriteLine(pool.GetStatistics().OutstandingAllocations);
        """;

    /// <summary>Compiles as C# 7.3, which projects of .NET Framework are, beside a type named as the library's namespace.</summary>
    private const string OldLibrary =
        """
        namespace My.Images
        {
            public class Allocator
            {
                public object Adapter { get { return new ImageSharpAllocator(global::Allocator.MemoryAllocator.Default); } }
            }
        }
        """;

    private const string Console10 =
        "<TargetFramework>net10.0</TargetFramework><OutputType>Exe</OutputType><ImplicitUsings>enable</ImplicitUsings>"
        + "<TreatWarningsAsErrors>true</TreatWarningsAsErrors>";

    [Fact]
    public void ImageSharpPackage_Files_AreSourcesForDirectConsumersOnly()
    {
        using ZipArchive archive = ZipFile.OpenRead(library.ImageSharpPackagePath);
        string[] files = [.. archive.Entries.Select(entry => entry.FullName)];

        Assert.DoesNotContain(files, file => file.EndsWith(".dll", StringComparison.Ordinal));
        Assert.DoesNotContain(files, file => file.StartsWith("buildTransitive/", StringComparison.Ordinal));
        Assert.Equal(
            ["build/Allocator.ImageSharp.targets", "build/sources/ImageSharpAdmission.cs",
                "build/sources/ImageSharpAllocator.Version3.cs", "build/sources/ImageSharpAllocator.Version4.cs",
                "build/sources/ImageSharpAllocator.cs", "build/sources/ImageSharpUsings.cs",
                "build/sources/ImageSharpWebAdmission.Version3.cs", "build/sources/ImageSharpWebAdmission.Version4.cs",
                "build/sources/ImageSharpWebAdmission.cs"],
            files.Where(file => file.StartsWith("build/", StringComparison.Ordinal)).Order(StringComparer.Ordinal));
    }

    [Fact]
    public void ImageSharpPackage_Dependencies_AreTheLibraryOfItsVersion()
    {
        using ZipArchive archive = ZipFile.OpenRead(library.ImageSharpPackagePath);
        using Stream stream = archive.GetEntry("Allocator.ImageSharp.nuspec")!.Open();
        XElement dependency = Assert.Single(
            XDocument.Load(stream).Descendants(), element => element.Name.LocalName == "dependency");
        Assert.Equal(("Allocator", library.Version), (dependency.Attribute("id")!.Value, dependency.Attribute("version")!.Value));
        Assert.DoesNotContain("Analyzers", dependency.Attribute("exclude")?.Value ?? "", StringComparison.Ordinal);
    }

    /// <summary>What a newcomer types.</summary>
    [Theory]
    [InlineData("2.1.13", "2")]
    [InlineData("3.1.12", "3")]
    [InlineData("4.1.1", "4")]
    public void NewConsoleProject_WithThePackagesAdded_AllocatesInThePool(string version, string major)
    {
        string folder = library.Folder($"NewImageSharp{major}");
        library.Dotnet(folder, "new", "console", "--no-restore");
        string[] source = major == "2" ? [] : ["--source", StandIns()];
        library.Dotnet(folder, ["add", "package", "SixLabors.ImageSharp", "--version", version, .. source]);
        library.Dotnet(folder, "add", "package", "Allocator.ImageSharp", "--version", library.Version, "--source", library.Feed);
        File.WriteAllText(Path.Combine(folder, "Program.cs"), Program);

        string printed = library.Dotnet(folder, "run");

        Assert.Equal([$"{major}: 1", "0"], printed.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries));
    }

    /// <summary>The oldest framework and compiler, with all that can turn a source of another's into a warning.</summary>
    [Fact]
    public void Build_NetFrameworkOfCSharp7_HasNoWarning()
    {
        string folder = Project(
            "Old472",
            OldLibrary,
            """
            <TargetFramework>net472</TargetFramework><LangVersion>7.3</LangVersion><Nullable>disable</Nullable>
            <RootNamespace>My.Images</RootNamespace><CheckForOverflowUnderflow>true</CheckForOverflowUnderflow>
            <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
            """,
            Package("2.1.13") + Adapter());
        library.Dotnet(folder, "build");
    }

    /// <summary>All rules as errors; the version from central versions; ImageSharp by way of another project's package.</summary>
    [Fact]
    public void Build_CentralVersionsTransitiveAndAllRules_HasNoWarning()
    {
        string folder = library.Folder("Central");
        string imaging = Path.Combine(folder, "Imaging");
        string app = Path.Combine(folder, "App");
        Directory.CreateDirectory(imaging);
        Directory.CreateDirectory(app);
        File.WriteAllText(
            Path.Combine(folder, "Directory.Packages.props"),
            $"""
            <Project><PropertyGroup><ManagePackageVersionsCentrally>true</ManagePackageVersionsCentrally></PropertyGroup><ItemGroup>
              <PackageVersion Include="SixLabors.ImageSharp" Version="4.1.1" />
              <PackageVersion Include="Allocator.ImageSharp" Version="{library.Version}" />
            </ItemGroup></Project>
            """);
        string sources = Sources();
        const string Adapter = """<PackageReference Include="Allocator.ImageSharp" />""";
        const string Rules = "<EnableNETAnalyzers>true</EnableNETAnalyzers><AnalysisMode>All</AnalysisMode>"
            + "<NoWarn>CA1303;CA1812;CA1849;CA2007;CA5394;CA1515</NoWarn><RestorePackagesWithLockFile>true</RestorePackagesWithLockFile>";

        // Each sees the internals of the other: the same types in both would be a warning.
        File.WriteAllText(Path.Combine(imaging, "Imaging.cs"), "[assembly: System.Runtime.CompilerServices.InternalsVisibleTo(\"App\")]");
        File.WriteAllText(
            Path.Combine(imaging, "Imaging.csproj"),
            library.Project(
                "<TargetFramework>net10.0</TargetFramework><TreatWarningsAsErrors>true</TreatWarningsAsErrors>" + Rules + sources,
                """<PackageReference Include="SixLabors.ImageSharp" />""" + Adapter));
        File.WriteAllText(Path.Combine(app, "Program.cs"), Program);
        File.WriteAllText(
            Path.Combine(app, "App.csproj"),
            library.Project(Console10 + Rules + sources, """<ProjectReference Include="../Imaging/Imaging.csproj" />""" + Adapter));

        Assert.Contains("4: 1", library.Dotnet(app, "run"), StringComparison.Ordinal);
    }

    /// <summary>A reference to a file has no package: the assembly's own version decides.</summary>
    [Theory]
    [InlineData("3.1.12", "3")]
    [InlineData("4.1.1", "4")]
    public void Build_ImageSharpByFile_KnowsItsVersion(string version, string major)
    {
        string assembly = Path.Combine(StandIns(), $"standin-{version}", "bin", "Release", "net8.0", "SixLabors.ImageSharp.dll");
        string folder = Project(
            $"ByFile{major}", Program, Console10, $"""<Reference Include="SixLabors.ImageSharp" HintPath="{assembly}" />""" + Adapter());
        Assert.Contains($"{major}: 1", library.Dotnet(folder, "run"), StringComparison.Ordinal);
    }

    /// <summary>With the hook only if ImageSharp.Web is referenced.</summary>
    [Theory]
    [InlineData("3.1.12", "3.1.5")]
    [InlineData("3.1.12", "3.2.0")]
    [InlineData("4.1.1", "4.0.0")]
    public void Build_WithImageSharpWeb_HasTheHook(string version, string web)
    {
        const string Code =
            """
            using Allocator;
            using SixLabors.ImageSharp.Web.Middleware;

            ImageSharpMiddlewareOptions options = new();
            options.ReserveEachImage(MemoryAllocator.Default);
            Console.WriteLine(options.OnBeforeLoadAsync.Method.DeclaringType!.Namespace ?? "none");
            """;
        string folder = Project(
            $"Web{web}",
            Code,
            Console10,
            Package(version) + $"""<PackageReference Include="{Web}" Version="{web}" />""" + Adapter()
                + """<FrameworkReference Include="Microsoft.AspNetCore.App" />""");

        // The name of the project, as an identifier.
        Assert.Contains($"Web{web[0]}._{web[2]}._{web[4]}", library.Dotnet(folder, "run"), StringComparison.Ordinal);
    }

    /// <summary>What an IDE asks: which sources would be compiled. A project that nothing has built yet has no version.</summary>
    [Fact]
    public void DesignTimeBuild_PackageAndUnbuiltProject_HaveTheSourcesOrAWarning()
    {
        string package = Project("Design", Program, Console10, Package("4.1.1") + Adapter());
        Assert.Contains("ImageSharpAllocator.Version4.cs", DesignTimeBuild(package), StringComparison.Ordinal);

        string fork = library.Folder("Fork");
        CopyStandIn("4.1.1", fork);
        string unbuilt = Project(
            "Unbuilt", Program, Console10, """<ProjectReference Include="../Fork/SixLabors.ImageSharp.csproj" />""" + Adapter());
        string printed = DesignTimeBuild(unbuilt);
        Assert.Contains("warning ALLOCIS1", printed, StringComparison.Ordinal);
        Assert.Contains("AllocatorImageSharpVersion", printed, StringComparison.Ordinal);
        Assert.Contains(
            "ImageSharpAllocator.Version4.cs", DesignTimeBuild(unbuilt, "-p:AllocatorImageSharpVersion=4"), StringComparison.Ordinal);
        Assert.Contains("4: 1", library.Dotnet(unbuilt, "run"), StringComparison.Ordinal);
    }

    /// <summary>A clone without its tags has the version 0.0.1, whatever it is. What the project says counts.</summary>
    [Theory]
    [InlineData("3.1.12", "3")]
    [InlineData("4.1.1", "4")]
    public void Build_ClonedRepositoryAsProject_TakesTheVersionThatTheProjectSays(string version, string major)
    {
        CopyStandIn(version, library.Folder($"Clone{major}"), assemblyVersion: "0.0.1");
        string folder = Project(
            $"OfClone{major}",
            Program.Replace("typeof(Configuration).Assembly.GetName().Version!.Major", "\"clone\"", StringComparison.Ordinal),
            Console10,
            $"""<ProjectReference Include="../Clone{major}/SixLabors.ImageSharp.csproj" />""" + Adapter());
        InvalidOperationException failed = Assert.Throws<InvalidOperationException>(() => library.Dotnet(folder, "build"));
        Assert.Contains("AllocatorImageSharpVersion", failed.Message, StringComparison.Ordinal);

        Assert.Contains(
            "clone: 1", library.Dotnet(folder, "run", $"-p:AllocatorImageSharpVersion={major}"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Without", "SixLabors.ImageSharp is not", "")]
    [InlineData("TooOld", "references 1.0.4", "1.0.4")]
    public void Build_WithoutAVersionThatIsSupported_SaysSo(string name, string message, string version)
    {
        string folder = Project(name, "", Console10, (version.Length == 0 ? "" : Package(version)) + Adapter());
        InvalidOperationException failed = Assert.Throws<InvalidOperationException>(() => library.Dotnet(folder, "build"));
        Assert.Contains(message, failed.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Basic", "vb")]
    [InlineData("FSharp", "fs")]
    public void Build_OtherLanguage_SaysThatTheSourcesAreCSharp(string name, string language)
    {
        string folder = library.Folder(name);
        File.WriteAllText(Path.Combine(folder, $"Empty.{language}"), language == "fs" ? "module Empty" : "");
        File.WriteAllText(
            Path.Combine(folder, $"{name}.{language}proj"),
            library.Project(
                "<TargetFramework>net10.0</TargetFramework>" + Sources(),
                Package("4.1.1") + Adapter() + (language == "fs" ? """<Compile Include="Empty.fs" />""" : ""))
                .Replace("<LangVersion>latest</LangVersion>", "", StringComparison.Ordinal)
                .Replace("<Nullable>enable</Nullable>", "", StringComparison.Ordinal));
        InvalidOperationException failed = Assert.Throws<InvalidOperationException>(() => library.Dotnet(folder, "build"));
        Assert.Contains("Add it to a C# project", failed.Message, StringComparison.Ordinal);
    }

    /// <summary>In one file, and trimmed to what is used, without a warning of either.</summary>
    [SkippableTheory]
    [InlineData("3.1.12", "3", "-p:PublishTrimmed=false")]
    [InlineData("3.1.12", "3", "-p:PublishTrimmed=true")]
    [InlineData("4.1.1", "4", "-p:PublishTrimmed=false")]
    [InlineData("4.1.1", "4", "-p:PublishTrimmed=true")]
    public void Publish_InOneFile_AllocatesInThePool(string version, string major, string trimming)
    {
        string name = $"OneFile{major}{trimming.Split('=')[1]}";
        string folder = Project(
            name,
            Program,
            Console10 + "<SelfContained>true</SelfContained><InvariantGlobalization>true</InvariantGlobalization>",
            Package(version) + Adapter());
        string output = Path.Combine(folder, "published");
        try
        {
            library.Dotnet(
                folder,
                ["publish", "--output", output, "--use-current-runtime", "-p:UseAppHost=true", "-p:PublishSingleFile=true", trimming]);
        }
        catch (InvalidOperationException exception) when (
            exception.Message.Contains("Unable to find package", StringComparison.Ordinal))
        {
            throw new SkipException("Publishing with the runtime takes its package from the feed.");
        }

        Assert.Empty(Directory.GetFiles(output, "*.dll"));
        string printed = CommandLine.Run(Path.Combine(output, name), output, new Dictionary<string, string>());
        Assert.Contains($"{major}: 1", printed, StringComparison.Ordinal);
    }

    private static string Package(string version) => $"""<PackageReference Include="SixLabors.ImageSharp" Version="{version}" />""";

    private string Adapter() => $"""<PackageReference Include="Allocator.ImageSharp" Version="{library.Version}" />""";

    private string Sources() =>
        $"<RestoreAdditionalProjectSources>{library.Feed};{StandIns()}</RestoreAdditionalProjectSources>";

    private string DesignTimeBuild(string folder, params string[] arguments)
    {
        string[] design = ["-p:DesignTimeBuild=true", "-p:BuildingProject=false", "-p:BuildProjectReferences=false",
            "-p:SkipCompilerExecution=true", "-p:ProvideCommandLineArgs=true", .. arguments];
        library.Dotnet(folder, "restore");

        // Warnings are not printed beside the items.
        return library.Dotnet(folder, ["msbuild", "-t:Compile", .. design])
            + library.Dotnet(folder, ["msbuild", "-t:Compile", "-getItem:Compile", .. design]);
    }

    private string Project(string name, string code, string properties, string references)
    {
        string folder = library.Folder(name);
        File.WriteAllText(Path.Combine(folder, "Program.cs"), code);
        File.WriteAllText(Path.Combine(folder, $"{name}.csproj"), library.Project(properties + Sources(), references));
        return folder;
    }

    /// <summary>Packs the declarations of each version, once, and returns the folder that serves as a feed.</summary>
    private string StandIns()
    {
        string feed = library.Folder("standins");
        lock (library)
        {
            if (Directory.GetFiles(feed, "*.nupkg").Length != 0)
            {
                return feed;
            }

            foreach (string version in (string[])["1.0.4", "3.1.12", "4.1.1"])
            {
                string folder = Path.Combine(feed, $"standin-{version}");
                CopyStandIn(version, folder);
                library.Dotnet(folder, "pack", "--output", feed);
            }

            foreach ((string version, string of) in ((string, string)[])[("3.1.5", "3.1.12"), ("3.2.0", "3.1.12"), ("4.0.0", "4.1.1")])
            {
                string folder = Path.Combine(feed, $"web-{version}");
                Copy("Web", folder);
                File.WriteAllText(
                    Path.Combine(folder, $"{Web}.csproj"),
                    StandIn(version, "net8.0", Package(of) + """<FrameworkReference Include="Microsoft.AspNetCore.App" />""", feed));
                library.Dotnet(folder, "pack", "--output", feed);
            }
        }

        return feed;
    }

    private void CopyStandIn(string version, string folder, string? assemblyVersion = null)
    {
        bool isOld = version[0] < '3';
        Copy(version[0] == '4' ? "Version4" : "Version3", folder);
        if (isOld)
        {
            File.Delete(Path.Combine(folder, "Formats.cs"));
        }
        else
        {
            Copy("AllVersions", folder);
        }

        File.WriteAllText(
            Path.Combine(folder, "SixLabors.ImageSharp.csproj"),
            StandIn(
                version,
                isOld ? "netstandard2.0" : "net8.0",
                isOld ? """<PackageReference Include="System.Memory" Version="4.6.3" />""" : "",
                assemblyVersion: assemblyVersion));
    }

    private void Copy(string declarations, string folder)
    {
        Directory.CreateDirectory(folder);
        string from = Path.Combine(library.Sources, "tests", "Allocator.ImageSharp.Tests", "Declarations", declarations);
        foreach (string file in Directory.GetFiles(from))
        {
            File.Copy(file, Path.Combine(folder, Path.GetFileName(file)));
        }
    }

    // The major version is the assembly's, as the library's are.
    private static string StandIn(
        string version, string framework, string references, string source = "", string? assemblyVersion = null) =>
        $"""
        <Project Sdk="Microsoft.NET.Sdk">
          <PropertyGroup>
            <TargetFramework>{framework}</TargetFramework>
            <Version>{version}</Version>
            <AssemblyVersion>{assemblyVersion ?? $"{version[0]}.0.0.0"}</AssemblyVersion>
            <Nullable>enable</Nullable>
            <LangVersion>latest</LangVersion>
            <NuGetAudit>false</NuGetAudit>
            <RestoreAdditionalProjectSources>{source}</RestoreAdditionalProjectSources>
          </PropertyGroup>
          <ItemGroup>{references}</ItemGroup>
        </Project>
        """;
}
