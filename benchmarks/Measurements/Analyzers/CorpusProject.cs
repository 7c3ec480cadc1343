using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
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
    /// <exception cref="InvalidOperationException">It does not compile.</exception>
    public static CorpusProject Load(string path)
    {
        string folder = Path.GetDirectoryName(Path.GetFullPath(path))!;
        string? framework = File.ReadAllText(path).Contains("<TargetFrameworks>", StringComparison.Ordinal) ? "net10.0" : null;
        CSharpCommandLineArguments arguments = CSharpCommandLineParser.Default.Parse(
            CompilerCommandLine.Of(path, Configuration, framework), folder, sdkDirectory: null);
        CSharpCompilation compilation = CSharpCompilation.Create(
            arguments.CompilationName,
            arguments.SourceFiles.Select(file => CSharpSyntaxTree.ParseText(
                SourceText.From(File.ReadAllText(file.Path)), arguments.ParseOptions, file.Path)),
            arguments.MetadataReferences.Select(reference => MetadataReference.CreateFromFile(reference.Reference, reference.Properties)),
            arguments.CompilationOptions.WithStrongNameProvider(null));
        compilation = GeneratedSources.AddTo(compilation, arguments);
        Diagnostic? error = compilation.GetDiagnostics().FirstOrDefault(diagnostic => diagnostic.DefaultSeverity == DiagnosticSeverity.Error);
        return error is null
            ? new CorpusProject(Path.GetFileNameWithoutExtension(path), compilation)
            : throw new InvalidOperationException($"{Path.GetFileName(path)} does not compile: {error}");
    }

    /// <summary>Gives whether a file was written by somebody, not by the build.</summary>
    public static bool IsWritten(SyntaxTree tree) =>
        Path.IsPathRooted(tree.FilePath) && !tree.FilePath.Contains($"{Path.DirectorySeparatorChar}obj{Path.DirectorySeparatorChar}", StringComparison.Ordinal);
}
