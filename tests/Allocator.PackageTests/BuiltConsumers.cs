using System.Text.Json;
using Allocator.Tests.Documentation;

namespace Allocator.PackageTests;

/// <summary>New projects that know the library by its package only, built all at once: most of a build's time is its start.</summary>
internal sealed class BuiltConsumers
{
    /// <summary>
    /// Uses the pool, and says which assembly of the library it runs with. It has a strong name: a library that has none would be a
    /// warning, which is an error here.
    /// </summary>
    private const string Code =
        """
        using System;
        using System.Buffers;
        using System.Reflection;
        using System.Runtime.Versioning;
        using Allocator;

        namespace Consumer
        {
            public static class Program
            {
                public static void Main()
                {
                    using IMemoryOwner<byte> owner = MemoryAllocator.Default.Allocate<byte>(3000000);
                    owner.Memory.Span.Fill(42);
                    using PixelBuffer<uint> pixels = MemoryAllocator.Default.AllocatePixels<uint>(640, 480, AllocationOptions.Clean);
                    pixels.ProcessPixelRows(accessor =>
                    {
                        for (int y = 0; y < accessor.Height; y++)
                        {
                            accessor.GetRowSpan(y).Fill(1);
                        }
                    });
                    Console.WriteLine(typeof(MemoryAllocator).Assembly.GetCustomAttribute<TargetFrameworkAttribute>()!.FrameworkName);
                    long blocks = MemoryAllocator.Default.GetStatistics().PoolMisses;
                    Console.WriteLine($"{owner.Memory.Span.ToArray()[2999999]}, {blocks} blocks");
                }
            }
        }
        """;

    /// <summary>Serves one request that needs memory, and says how that went.</summary>
    private const string WebCode =
        """
        using System;
        using System.Linq;
        using System.Net.Http;
        using System.Threading.Tasks;
        using Microsoft.AspNetCore.Builder;
        using Microsoft.AspNetCore.Hosting;
        using Microsoft.AspNetCore.Http;
        using Microsoft.Extensions.DependencyInjection;
        using Microsoft.Extensions.Logging;

        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Logging.ClearProviders();
        builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = 16);
        await using WebApplication app = builder.Build();
        app.MapPost("/", (HttpContext context) => context.GetMemoryReservation().ReservedBytes)
            .RequireMemory(_ => new ValueTask<long>(1000));
        await app.StartAsync();
        using HttpClient client = new();
        using HttpResponseMessage response = await client.PostAsync(app.Urls.Single(), new ByteArrayContent(new byte[100_000]));
        Console.WriteLine($"{(int)response.StatusCode} {await response.Content.ReadAsStringAsync()}");
        """;

    private const string Consumer = "Consumer";
    private const string WebConsumer = "WebConsumer";
    private const string FirstImage = "FirstImage472";
    private const string ReadmeExample = "ReadmeExample";

    private readonly PackedLibrary _library;
    private readonly ILookup<string, string> _warnings;

    public BuiltConsumers(PackedLibrary library)
    {
        _library = library;
        string folder = library.Folder("consumers");
        string key = Path.Combine(library.Sources, "src", "Allocator.snk");
        CodeBlock example = CodeBlock.All().First(block => block is { Document: "README.md", IsRun: true });
        string[] projects =
        [
            .. AnalyzedProjects.Write(library),
            Write(
                Consumer,
                Code,
                $"""
                <TargetFrameworks>net10.0;net8.0;net472;netstandard2.0</TargetFrameworks>
                <SignAssembly>true</SignAssembly>
                <AssemblyOriginatorKeyFile>{key}</AssemblyOriginatorKeyFile>
                <OutputType Condition="'$(TargetFramework)' != 'netstandard2.0'">Exe</OutputType>
                <RollForward>LatestMajor</RollForward>
                """),
            Write(
                ReadmeExample,
                example.Code,
                "<TargetFramework>net10.0</TargetFramework><OutputType>Exe</OutputType><ImplicitUsings>enable</ImplicitUsings>"),
            Write(
                FirstImage,
                CodeBlock.All().First(block => block.Document == "docs/getting-started.md").Code,
                "<TargetFramework>net472</TargetFramework><OutputType>Exe</OutputType><ImplicitUsings>enable</ImplicitUsings>"),
            Write(
                WebConsumer,
                WebCode,
                "<TargetFramework>net10.0</TargetFramework><OutputType>Exe</OutputType>",
                "Allocator.AspNetCore"),
        ];
        File.WriteAllText(
            Path.Combine(folder, "Consumers.slnx"),
            $"<Solution>{string.Concat(projects.Select(path => $"""<Project Path="{path}" />"""))}</Solution>");
        _warnings = AnalyzedProjects.Warnings(library.Dotnet(folder, "build", "Consumers.slnx"));
    }

    /// <summary>Gives the ids of the warnings of one consumer.</summary>
    public IEnumerable<string> Warnings(string choice, bool isTransitive) =>
        _warnings[AnalyzedProjects.Key(choice, isTransitive)].Distinct().Order();

    /// <summary>Runs the first example of the README.</summary>
    public void RunReadmeExample() => _library.Dotnet(Output(ReadmeExample), "exec", $"{ReadmeExample}.dll");

    /// <summary>Runs the web application, and returns the lines that it printed.</summary>
    public string[] RunWeb() => Lines(_library.Dotnet(Output(WebConsumer), "exec", $"{WebConsumer}.dll"));

    /// <summary>Runs the consumer that was built for .NET, and returns the lines that it printed.</summary>
    public string[] Run(string targetFramework) => Lines(_library.Dotnet(Output(Consumer, targetFramework), "exec", $"{Consumer}.dll"));

    /// <summary>Runs the consumer that was built for .NET Framework.</summary>
    /// <exception cref="System.ComponentModel.Win32Exception">Mono is not there.</exception>
    public string[] RunOnMono() => RunOnMono(Consumer);

    /// <summary>Runs the first image of the guide, built for .NET Framework.</summary>
    /// <exception cref="System.ComponentModel.Win32Exception">Mono is not there.</exception>
    public string[] RunFirstImageOnMono() => RunOnMono(FirstImage);

    /// <summary>Gives the assemblies of the library that NuGet chose for a target framework, to compile against and to run with.</summary>
    public (string[] Compile, string[] Run) Assets(string targetFramework)
    {
        string path = Path.Combine(_library.Folder(Path.Combine("consumers", Consumer)), "obj", "project.assets.json");
        using JsonDocument json = JsonDocument.Parse(File.ReadAllBytes(path));
        JsonElement package = json.RootElement.GetProperty("targets")
            .GetProperty(targetFramework)
            .GetProperty($"Allocator/{_library.Version}");
        return (Names(package.GetProperty("compile")), Names(package.GetProperty("runtime")));
    }

    private string[] RunOnMono(string project) =>
        Lines(CommandLine.Run("mono", Output(project, "net472"), new Dictionary<string, string>(), $"{project}.exe"));

    private static string[] Names(JsonElement assets) => [.. assets.EnumerateObject().Select(asset => asset.Name)];

    private static string[] Lines(string printed) =>
        printed.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);

    // A warning of the compiler, or of a rule, is an error here: a consumer should have none.
    private string Write(string name, string code, string properties, string package = "Allocator")
    {
        string folder = _library.NewProject(
            Path.Combine("consumers", name), code, properties + "<TreatWarningsAsErrors>true</TreatWarningsAsErrors>", package);
        return Directory.GetFiles(folder, "*.csproj").Single();
    }

    private string Output(string project, string targetFramework = "net10.0") =>
        _library.Folder(Path.Combine("consumers", project, "bin", "Debug", targetFramework));
}
