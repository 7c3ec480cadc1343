using System.Reflection;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Emit;
using static Microsoft.CodeAnalysis.CSharp.SyntaxFactory;

namespace Allocator.Tests.Architecture;

/// <summary>
/// The library's sources, compiled once more with a call at the beginning of each method, constructor and accessor that records its file.
/// Lambdas and local functions are not recorded: their method is.
/// </summary>
internal static class TracedLibrary
{
    private const string Recorder =
        """
        using System;
        using System.Collections.Generic;

        internal static class FileRecorder
        {
            private static readonly SortedSet<string> s_files = [];
            private static int s_exceptThread;
            private static int s_onlyThread;
            private static bool s_records;

            public static void Enter(string file)
            {
                int thread = Environment.CurrentManagedThreadId;
                if (System.Threading.Volatile.Read(ref s_records) && thread != s_exceptThread
                    && (s_onlyThread == -1 || thread == s_onlyThread))
                {
                    lock (s_files)
                    {
                        s_files.Add(file);
                    }
                }
            }

            // The first time is for what is made once.
            public static string[] Run(string way, bool ofCaller, bool ofOthers)
            {
                s_exceptThread = ofCaller ? -1 : Environment.CurrentManagedThreadId;
                s_onlyThread = ofOthers ? -1 : Environment.CurrentManagedThreadId;
                Action<Action<Action>> run = typeof(Allocator.Tests.Architecture.Ways).GetMethod(way)!
                    .CreateDelegate<Action<Action<Action>>>();
                run(static step =>
                {
                    step();
                    step();
                    System.Threading.Volatile.Write(ref s_records, true);
                    step();
                    System.Threading.Volatile.Write(ref s_records, false);
                });
                lock (s_files)
                {
                    return [.. s_files];
                }
            }
        }
        """;

    private static readonly CSharpParseOptions s_parse = new(LanguageVersion.Preview, preprocessorSymbols: Symbols());

    /// <summary>Compiles the library, with the ways in it, to a file.</summary>
    public static void Compile(string assembly)
    {
        string library = Repository.PathTo("src", "Allocator");
        IEnumerable<SyntaxTree> sources =
            from path in Directory.EnumerateFiles(library, "*.cs", SearchOption.AllDirectories)
            let file = Path.GetRelativePath(library, path)
            where file.Split(Path.DirectorySeparatorChar)[0] is not ("bin" or "obj" or "Compat")
            select Trace(File.ReadAllText(path), file.Replace('\\', '/'));
        string ways = File.ReadAllText(Repository.PathTo("tests", "Allocator.Tests", "Architecture", "Ways.cs"));
        string usings = Repository.GlobalUsings("src", "Allocator", "Allocator.csproj");
        CSharpCompilation compilation = CSharpCompilation.Create(
            "TracedAllocator",
            [.. sources, .. from text in (string[])[usings, Recorder, ways] select CSharpSyntaxTree.ParseText(text, s_parse)],
            ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
                .Where(static path => Path.GetFileName(path) is not ("Allocator.dll" or "Allocator.Tests.dll"))
                .Select(static path => MetadataReference.CreateFromFile(path)),
            new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true));
        using FileStream output = File.Create(assembly);
        EmitResult result = compilation.Emit(output);
        if (!result.Success)
        {
            throw new InvalidOperationException(string.Join(
                '\n', result.Diagnostics.Where(static one => one.Severity == DiagnosticSeverity.Error)));
        }
    }

    /// <summary>Runs a way in what <see cref="Compile"/> wrote. Returns the files that it passes, relative to the library.</summary>
    public static string[] Run(string assembly, string way, bool ofCaller, bool ofOthers) =>
        (string[])Assembly.LoadFrom(assembly).GetType("FileRecorder")!.GetMethod("Run")!.Invoke(null, [way, ofCaller, ofOthers])!;

    // Parsed again, because `field` is a keyword only where it stands in an accessor.
    private static SyntaxTree Trace(string text, string file)
    {
        SyntaxNode withoutDirectives = new Preprocessor().Visit(CSharpSyntaxTree.ParseText(text, s_parse).GetRoot());
        return CSharpSyntaxTree.ParseText(new Tracer(file).Visit(withoutDirectives).ToFullString(), s_parse);
    }

    private static string[] Symbols() =>
        [
            "NET",
            .. from version in Enumerable.Range(5, Environment.Version.Major - 4) select $"NET{version}_0_OR_GREATER",
        ];

    private sealed class Preprocessor : CSharpSyntaxRewriter
    {
        public override SyntaxTrivia VisitTrivia(SyntaxTrivia trivia) =>
            trivia.IsDirective || trivia.IsKind(SyntaxKind.DisabledTextTrivia) ? EndOfLine("\n") : trivia;
    }

    private sealed class Tracer(string file) : CSharpSyntaxRewriter
    {
        private StatementSyntax Step => ParseStatement($"global::FileRecorder.Enter(\"{file}\");");

        public override SyntaxNode VisitMethodDeclaration(MethodDeclarationSyntax node) => node.Body is { } body
            ? node.WithBody(Begin(body))
            : node.ExpressionBody is { } expression
                ? node.WithExpressionBody(null).WithSemicolonToken(default).WithBody(ToBlock(expression, ReturnsValue(node)))
                : node;

        public override SyntaxNode VisitConstructorDeclaration(ConstructorDeclarationSyntax node) => node.Body is { } body
            ? node.WithBody(Begin(body))
            : node.WithExpressionBody(null).WithSemicolonToken(default).WithBody(ToBlock(node.ExpressionBody!, returnsValue: false));

        public override SyntaxNode VisitPropertyDeclaration(PropertyDeclarationSyntax node) => node.ExpressionBody is { } expression
            ? node.WithExpressionBody(null).WithSemicolonToken(default).WithInitializer(null).WithAccessorList(Getter(expression))
            : base.VisitPropertyDeclaration(node)!;

        public override SyntaxNode VisitIndexerDeclaration(IndexerDeclarationSyntax node) => node.ExpressionBody is { } expression
            ? node.WithExpressionBody(null).WithSemicolonToken(default).WithAccessorList(Getter(expression))
            : base.VisitIndexerDeclaration(node)!;

        public override SyntaxNode VisitAccessorDeclaration(AccessorDeclarationSyntax node) => node.Body is { } body
            ? node.WithBody(Begin(body))
            : node.ExpressionBody is { } expression
                ? node.WithExpressionBody(null).WithSemicolonToken(default)
                    .WithBody(ToBlock(expression, node.IsKind(SyntaxKind.GetAccessorDeclaration)))
                : node;

        private static bool ReturnsValue(MethodDeclarationSyntax node) =>
            node.ReturnType.ToString() != "void"
            && !(node.Modifiers.Any(SyntaxKind.AsyncKeyword) && node.ReturnType.ToString() is "Task" or "ValueTask");

        private AccessorListSyntax Getter(ArrowExpressionClauseSyntax expression) => AccessorList(SingletonList(
            AccessorDeclaration(SyntaxKind.GetAccessorDeclaration, ToBlock(expression, returnsValue: true))));

        private BlockSyntax Begin(BlockSyntax body) => body.WithStatements(body.Statements.Insert(0, Step));

        private BlockSyntax ToBlock(ArrowExpressionClauseSyntax arrow, bool returnsValue) => Block(
            Step,
            ParseStatement(arrow.Expression is ThrowExpressionSyntax
                ? $"{arrow.Expression};"
                : returnsValue ? $"return {arrow.Expression};" : $"{arrow.Expression};"));
    }
}
