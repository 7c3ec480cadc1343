using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Text;

namespace Allocator.Analyzers.Tests.CodeFixes.Fixing;

/// <summary>A project in a workspace, as an editor holds it, and what a fix makes of it.</summary>
internal sealed class FixedProject
{
    // That of this assembly: by name and key a project of tests sees the internals of the library.
    private static readonly ImmutableArray<byte> s_publicKey = [.. typeof(FixedProject).Assembly.GetName().GetPublicKey()!];

    private static readonly CSharpParseOptions s_newest = SnippetCompilation.ParseOptions.WithLanguageVersion(LanguageVersion.Latest);

    private readonly CodeFixProvider _fix;

    private FixedProject(Project project, CodeFixProvider fix)
    {
        Project = project;
        _fix = fix;
    }

    public Project Project { get; private set; }

    /// <summary>Makes a project of one file.</summary>
    public static FixedProject Of(
        string source,
        CodeFixProvider fix,
        LanguageVersion language = LanguageVersion.Latest,
        OutputKind kind = OutputKind.DynamicallyLinkedLibrary) =>
        new(Empty("Snippet", SnippetReferences.WithAllocator, language, kind).AddDocument("Snippet.cs", source).Project, fix);

    /// <summary>Makes a project of files as they are, byte order mark and line ends included.</summary>
    public static FixedProject Of(
        string assemblyName, IReadOnlyDictionary<string, SourceText> files, IEnumerable<MetadataReference> references, CodeFixProvider fix)
    {
        Project project = Empty(assemblyName, references, LanguageVersion.Latest, OutputKind.ConsoleApplication);
        foreach ((string path, SourceText text) in files)
        {
            project = project.AddDocument(path, text).Project;
        }

        return new FixedProject(project, fix);
    }

    /// <summary>Gets the text of the only file.</summary>
    public async Task<string> Text() => (await Project.Documents.Single().GetTextAsync()).ToString();

    /// <summary>Adds an <c>.editorconfig</c>.</summary>
    public FixedProject WithConfig(string config)
    {
        Project = Project.AddAnalyzerConfigDocument(".editorconfig", SourceText.From(config), filePath: "/0/.editorconfig").Project;
        DocumentId id = Project.DocumentIds.Single();
        Project = Project.Solution.WithDocumentFilePath(id, "/0/Snippet.cs").GetProject(id.ProjectId)!;
        return this;
    }

    /// <summary>Gives what the analyzer reports and the fix says it can fix.</summary>
    /// <exception cref="SnippetException">The project does not compile.</exception>
    public async Task<ImmutableArray<Diagnostic>> Diagnostics() =>
        [.. (await AllDiagnostics()).Where(diagnostic => _fix.FixableDiagnosticIds.Contains(diagnostic.Id))];

    /// <summary>Gives what the analyzer reports, of all rules.</summary>
    /// <exception cref="SnippetException">The project does not compile.</exception>
    public async Task<ImmutableArray<Diagnostic>> AllDiagnostics()
    {
        Compilation compilation = (await Project.GetCompilationAsync())!;
        SnippetCompilation.ThrowIfBroken(compilation, string.Join("\n", compilation.SyntaxTrees.Select(tree => tree.ToString()).Take(1)));
        return await AnalyzerRun.Of(new LifetimeAnalyzer(), compilation);
    }

    /// <summary>Gives the errors that the compiler finds only when it writes the assembly, as of spans across an await.</summary>
    public async Task<ImmutableArray<Diagnostic>> EmitErrors() =>
    [
        .. (await Project.GetCompilationAsync())!.Emit(Stream.Null)
            .Diagnostics.Where(found => found.Severity == DiagnosticSeverity.Error),
    ];

    /// <summary>Gives a diagnostic as the analyzer would report it on <paramref name="site"/>.</summary>
    public async Task<Diagnostic> DiagnosticAt(string site, string id)
    {
        SyntaxTree tree = (await Project.Documents.Single().GetSyntaxTreeAsync())!;
        TextSpan span = new((await Text()).IndexOf(site, System.StringComparison.Ordinal), site.Length);
        return Diagnostic.Create(new LifetimeAnalyzer().SupportedDiagnostics.Single(rule => rule.Id == id), Location.Create(tree, span));
    }

    /// <summary>Gives what the fix offers for one diagnostic.</summary>
    public async Task<IReadOnlyList<CodeAction>> Offers(Diagnostic diagnostic)
    {
        List<CodeAction> actions = [];
        Document document = Project.Solution.GetDocument(diagnostic.Location.SourceTree)!;
        await _fix.RegisterCodeFixesAsync(
            new CodeFixContext(document, diagnostic, (action, _) => actions.Add(action), CancellationToken.None));
        return actions;
    }

    /// <summary>Applies the only offer for the first diagnostic.</summary>
    public async Task FixFirst() => await Apply((await Offers((await Diagnostics())[0])).Single());

    /// <summary>Does what "fix all in the project" does with <paramref name="diagnostics"/>.</summary>
    public async Task FixAll(ImmutableArray<Diagnostic> diagnostics)
    {
        CodeAction first = (await Offers(diagnostics[0])).Single();
        FixAllContext context = new(
            Project.Solution.GetDocument(diagnostics[0].Location.SourceTree)!,
            _fix,
            FixAllScope.Project,
            first.EquivalenceKey!,
            _fix.FixableDiagnosticIds,
            new KnownDiagnostics(diagnostics),
            CancellationToken.None);
        await Apply((await _fix.GetFixAllProvider()!.GetFixAsync(context))!);
    }

    private static Project Empty(
        string assemblyName, IEnumerable<MetadataReference> references, LanguageVersion language, OutputKind kind) =>
        new AdhocWorkspace().AddProject(ProjectInfo.Create(
            ProjectId.CreateNewId(),
            VersionStamp.Default,
            assemblyName,
            assemblyName,
            LanguageNames.CSharp,
            compilationOptions: SnippetCompilation.Options.WithOutputKind(kind)
                .WithCryptoPublicKey(s_publicKey)
                .WithPublicSign(true)
                .WithNullableContextOptions(language < LanguageVersion.CSharp8
                ? NullableContextOptions.Disable
                : NullableContextOptions.Enable),
            parseOptions: s_newest.WithLanguageVersion(language),
            metadataReferences: references));

    private async Task Apply(CodeAction action)
    {
        ImmutableArray<CodeActionOperation> operations = await action.GetOperationsAsync(CancellationToken.None);
        Project = operations.OfType<ApplyChangesOperation>().Single().ChangedSolution.GetProject(Project.Id)!;
    }
}
