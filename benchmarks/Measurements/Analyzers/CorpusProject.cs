using System.Runtime.Loader;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Text;

namespace Measurements.Analyzers;

/// <summary>A project as the compiler sees it.</summary>
internal sealed class CorpusProject(string name, CSharpCompilation compilation)
{
    private const string Configuration = "Release";

    public string Name { get; } = name;

    public CSharpCompilation Compilation { get; } = compilation;

    public int Lines => Compilation.SyntaxTrees.Where(IsWritten).Sum(tree => tree.GetText().Lines.Count);

    /// <summary>Loads a project of the corpus, for its newest target framework.</summary>
    public static CorpusProject Load(string path)
    {
        string folder = Path.GetDirectoryName(Path.GetFullPath(path))!;
        string? framework = File.ReadAllText(path).Contains("<TargetFrameworks>", StringComparison.Ordinal) ? "net10.0" : null;
        CSharpCommandLineArguments arguments = CSharpCommandLineParser.Default.Parse(
            CompilerCommandLine.Of(path, Configuration, framework), folder, sdkDirectory: null);

        // The key says whose internals the project sees. Nothing is signed, as nothing is emitted.
        CSharpCompilationOptions options = arguments.CompilationOptions.WithStrongNameProvider(
            new DesktopStrongNameProvider(arguments.KeyFileSearchPaths));
        CSharpCompilation compilation = CSharpCompilation.Create(
            arguments.CompilationName,
            arguments.SourceFiles.Select(file => CSharpSyntaxTree.ParseText(
                SourceText.From(File.ReadAllText(file.Path)), arguments.ParseOptions, file.Path)),
            arguments.MetadataReferences.Select(reference => MetadataReference.CreateFromFile(reference.Reference, reference.Properties)),
            options);
        compilation = GeneratedSources.AddTo(compilation, arguments);
        return Compiled(Path.GetFileNameWithoutExtension(path), compilation);
    }

    /// <summary>
    /// Loads a folder of sources called <c>.cs.txt</c>, which no project compiles, against this process's base library and the allocator.
    /// </summary>
    public static CorpusProject LoadFolder(string path)
    {
        CSharpParseOptions options = new(LanguageVersion.Latest);
        SyntaxTree[] trees =
        [
            CSharpSyntaxTree.ParseText(ImplicitUsings, options, "ImplicitUsings.g.cs"),
            .. Directory.EnumerateFiles(path, "*.cs.txt", SearchOption.AllDirectories).Order(StringComparer.Ordinal).Select(file =>
                CSharpSyntaxTree.ParseText(SourceText.From(File.ReadAllText(file)), options, Path.ChangeExtension(file, null))),
        ];
        if (trees.Length == 1)
        {
            throw new InvalidDataException($"No file below {path} is called .cs.txt, as sources are that no project compiles.");
        }

        string trusted = (string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!;
        IEnumerable<string> assemblies = trusted.Split(Path.PathSeparator).Where(file =>
            Path.GetFileName(file) is "Allocator.dll" or "mscorlib.dll" or "netstandard.dll"
                or "Microsoft.CodeAnalysis.dll" or "Microsoft.CodeAnalysis.CSharp.dll"
            || Path.GetFileName(file).StartsWith("System.", StringComparison.Ordinal));
        CSharpCompilation compilation = CSharpCompilation.Create(
            Path.GetFileName(Path.TrimEndingDirectorySeparator(path)), trees,
            assemblies.Select(file => MetadataReference.CreateFromFile(file)),
            new CSharpCompilationOptions(
                OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true, nullableContextOptions: NullableContextOptions.Enable));
        return Compiled(compilation.AssemblyName!, compilation);
    }

    private const string ImplicitUsings =
        """
        global using System;
        global using System.Collections.Generic;
        global using System.IO;
        global using System.Linq;
        global using System.Net.Http;
        global using System.Threading;
        global using System.Threading.Tasks;
        """;

    private static CorpusProject Compiled(string name, CSharpCompilation compilation)
    {
        Diagnostic? error = compilation.GetDiagnostics().FirstOrDefault(
            diagnostic => diagnostic.DefaultSeverity == DiagnosticSeverity.Error);
        return error is null
            ? new CorpusProject(name, compilation)
            : throw new InvalidDataException($"{name} does not compile: {error}");
    }

    /// <summary>Returns whether a file is source code, not made by the build.</summary>
    public static bool IsWritten(SyntaxTree tree) =>
        Path.IsPathRooted(tree.FilePath) && !tree.FilePath.Contains(
            $"{Path.DirectorySeparatorChar}obj{Path.DirectorySeparatorChar}", StringComparison.Ordinal);
}

/// <summary>Asks MSBuild for the very arguments that it would give the compiler.</summary>
internal static class CompilerCommandLine
{
    private static readonly string[] s_properties =
    [
        "DesignTimeBuild=true", "BuildingInsideVisualStudio=true", "ProvideCommandLineArgs=true", "SkipCompilerExecution=true",
        "BuildProjectReferences=false",

        // Otherwise references would be looked for in Debug, as Visual Studio leaves the choice to its solution.
        "ShouldUnsetParentConfigurationAndPlatform=false",
    ];

    /// <summary>Gives the arguments for a project that has been restored and whose references have been built.</summary>
    public static string[] Of(string project, string configuration, string? targetFramework)
    {
        IEnumerable<string> properties = [.. s_properties, $"Configuration={configuration}"];
        if (targetFramework is not null)
        {
            properties = properties.Append($"TargetFramework={targetFramework}");
        }

        string output = ChildProgram.Run(new ProcessStartInfo(
            "dotnet",
            [
                "msbuild", project, "-t:Compile", "-getItem:CscCommandLineArgs", .. properties.Select(property => $"-p:{property}"),
            ]));
        using JsonDocument document = JsonDocument.Parse(output);
        return
        [
            .. document.RootElement.GetProperty("Items").GetProperty("CscCommandLineArgs").EnumerateArray()
                .Select(item => item.GetProperty("Identity").GetString()!),
        ];
    }
}

/// <summary>
/// Adds what the source generators of a project write: without it, those that use regular expressions or JSON do not compile.
/// </summary>
internal static class GeneratedSources
{
    public static CSharpCompilation AddTo(CSharpCompilation compilation, CSharpCommandLineArguments arguments)
    {
        Loader loader = new();
        IEnumerable<ISourceGenerator> generators = arguments.AnalyzerReferences
            .SelectMany(reference => new AnalyzerFileReference(reference.FilePath, loader).GetGenerators(LanguageNames.CSharp));
        CSharpGeneratorDriver.Create(generators, parseOptions: arguments.ParseOptions)
            .RunGeneratorsAndUpdateCompilation(compilation, out Compilation result, out _);
        return (CSharpCompilation)result;
    }

    // Packages and the framework bring generators of one name in several versions: those of each folder have a context of their own.
    private sealed class Loader : IAnalyzerAssemblyLoader
    {
        private readonly Dictionary<string, AssemblyLoadContext> _contexts = [];

        public void AddDependencyLocation(string fullPath)
        {
        }

        public Assembly LoadFromPath(string fullPath)
        {
            string folder = Path.GetDirectoryName(fullPath)!;
            if (!_contexts.TryGetValue(folder, out AssemblyLoadContext? context))
            {
                context = new AssemblyLoadContext(folder);
                context.Resolving += (own, name) =>
                    Path.Combine(folder, $"{name.Name}.dll") is var path && File.Exists(path) ? own.LoadFromAssemblyPath(path) : null;
                _contexts.Add(folder, context);
            }

            return context.LoadFromAssemblyPath(fullPath);
        }
    }
}
