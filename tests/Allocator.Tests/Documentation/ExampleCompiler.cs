using System.Reflection;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Emit;

namespace Allocator.Tests.Documentation;

/// <summary>
/// Compiles an example as a new console or web project would: with implicit and nullable usings, and no warning let pass.
/// </summary>
internal static class ExampleCompiler
{
    // What the SDK adds for a web project.
    private const string ImplicitWebUsings =
        """
        global using System.Net.Http.Json;
        global using Microsoft.AspNetCore.Builder;
        global using Microsoft.AspNetCore.Hosting;
        global using Microsoft.AspNetCore.Http;
        global using Microsoft.AspNetCore.Routing;
        global using Microsoft.Extensions.Configuration;
        global using Microsoft.Extensions.DependencyInjection;
        global using Microsoft.Extensions.Hosting;
        global using Microsoft.Extensions.Logging;
        """;

    // The version of a project for .NET 8.
    private static readonly CSharpParseOptions s_parse = new(LanguageVersion.CSharp12);

    private static readonly CSharpCompilationOptions s_options = new CSharpCompilationOptions(
        OutputKind.ConsoleApplication,
        nullableContextOptions: NullableContextOptions.Enable,
        optimizationLevel: OptimizationLevel.Release,
        warningLevel: 9)
        // The library may be compiled for another framework than this process runs on: its references are unified.
        .WithSpecificDiagnosticOptions(new Dictionary<string, ReportDiagnostic>
        {
            ["CS1701"] = ReportDiagnostic.Suppress,
            ["CS1702"] = ReportDiagnostic.Suppress,
        });

    /// <summary>Compiles an example without a complaint, and has it run in a folder of its own where it is to be.</summary>
    public static void TryOut(string document, int line, Action<string, string> runInFolder)
    {
        CodeBlock block = CodeBlock.All().Single(candidate => candidate.Document == document && candidate.Line == line);
        DirectoryInfo folder = Directory.CreateTempSubdirectory("Example-");
        try
        {
            string program = Path.Combine(folder.FullName, "Example.dll");
            IReadOnlyList<string> complaints = Compile(block, program);
            Assert.True(complaints.Count == 0, string.Join('\n', complaints));
            if (block.IsRun)
            {
                runInFolder(program, folder.FullName);
            }
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    /// <summary>
    /// Runs an example and returns what it printed. In a process of its own: it may use the default allocator, subscribe to events, or
    /// write files where it stands.
    /// </summary>
    public static string Run(string program, string folder)
    {
        RemoteInvokeOptions options = new();
        options.StartInfo.WorkingDirectory = folder;
        options.StartInfo.RedirectStandardOutput = true;
        using RemoteInvokeHandle handle = RemoteExecutor.Invoke(
            static path =>
            {
                MethodInfo main = Assembly.LoadFrom(path).EntryPoint!;
                object?[] arguments = main.GetParameters().Length == 0 ? [] : [Array.Empty<string>()];
                return main.Invoke(null, arguments) is int exitCode and not 0 ? exitCode : RemoteExecutor.SuccessExitCode;
            },
            program,
            options);

        // Read to the end, or a talkative example would wait for ever on a full pipe.
        return handle.Process.StandardOutput.ReadToEnd().Trim().ReplaceLineEndings("\n");
    }

    /// <summary>Writes the program to <paramref name="path"/> and returns the errors and warnings, if any.</summary>
    public static IReadOnlyList<string> Compile(CodeBlock block, string path)
    {
        // Line numbers of messages become those of the document.
        string code = $"#line {block.Line + 1} \"{block.Document}\"\n{block.Code}\n";
        SyntaxTree tree = CSharpSyntaxTree.ParseText(code, s_parse);

        // An example of tests has no entry point.
        bool isProgram = block.IsRun || tree.GetRoot().ChildNodes().Any(node => node is GlobalStatementSyntax);
        CSharpCompilation compilation = CSharpCompilation.Create(
            Path.GetFileNameWithoutExtension(path),
            [
                CSharpSyntaxTree.ParseText(Repository.ImplicitUsings + (block.IsWeb ? ImplicitWebUsings : ""), s_parse), tree,
                .. Sources(block),
            ],
            References(),
            isProgram ? s_options : s_options.WithOutputKind(OutputKind.DynamicallyLinkedLibrary));
        using FileStream output = File.Create(path);
        EmitResult result = compilation.Emit(output);
        return [.. from diagnostic in result.Diagnostics
                   where diagnostic.Severity >= DiagnosticSeverity.Warning
                   select diagnostic.ToString()];
    }

    // What the package of sources adds for ImageSharp 2.
    private static IEnumerable<SyntaxTree> Sources(CodeBlock block) => block.Client != "imagesharp" ? [] :
        from name in (string[])["ImageSharpAllocator", "ImageSharpAllocator.Version3", "ImageSharpUsings"]
        let path = Repository.PathTo("src", "Allocator.ImageSharp", "build", "sources", name + ".cs")
        select CSharpSyntaxTree.ParseText(File.ReadAllText(path), s_parse);

    // All that this process itself may load: the framework and the library under test. Not these tests, which have some of the compiled
    // files in them.
    internal static IEnumerable<MetadataReference> References() =>
        ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!)
            .Split(Path.PathSeparator)
            .Where(path => Path.GetFileNameWithoutExtension(path) != typeof(ExampleCompiler).Assembly.GetName().Name)
            .Select(path => MetadataReference.CreateFromFile(path));
}
