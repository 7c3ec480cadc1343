using Allocator.Analyzers.Rules;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Diagnostics.Telemetry;

namespace Allocator.Analyzers.Tests;

public sealed class LifetimeAnalyzerTests
{
    private const string Leak =
        """
        using Allocator;

        public static class Example
        {
            public static void Run() => {|ALLOC004:MemoryAllocator.Default.Allocate<byte>(64)|};
        }
        """;

    private const string WithoutAllocator =
        """
        public static class Example
        {
            public static void Run() => System.Buffers.MemoryPool<byte>.Shared.Rent(64).Memory.Span.Clear();
        }
        """;

    [Fact]
    public async Task Message_OfUse_NamesLineOfAllocationAndLocatesIt()
    {
        ImmutableArray<Diagnostic> found = await AnalyzerVerifier.Verify<LifetimeAnalyzer>(
            """
            using System;
            using System.Buffers;
            using Allocator;

            public static class Example
            {
                public static void Run(MemoryAllocator allocator)
                {
                    IMemoryOwner<byte> owner = allocator.Allocate<byte>(64);
                    Span<byte> span = owner.Memory.Span;
                    {|ALLOC001:span.Clear()|};
                }
            }
            """);

        Diagnostic diagnostic = Assert.Single(found);
        Assert.Contains("allocated on line 9 ", diagnostic.GetMessage(), StringComparison.Ordinal);
        Assert.Equal(8, Assert.Single(diagnostic.AdditionalLocations).GetLineSpan().StartLinePosition.Line);
    }

    [Theory]
    [InlineData("Example.g.cs")]
    [InlineData("Example.designer.cs")]
    public async Task GeneratedFile_OfBadCode_Silent(string path)
    {
        string source = MarkedSource.Parse(Leak).Text;

        ImmutableArray<Diagnostic> found = await AnalyzerVerifier.Verify<LifetimeAnalyzer>(source, SnippetReferences.WithAllocator, path);

        Assert.Empty(found);
        Assert.NotEmpty(await AnalyzerVerifier.Verify<LifetimeAnalyzer>(Leak));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Compilation_ThatDoesNotReferenceTheAllocator_RegistersNothing(bool references)
    {
        LifetimeAnalyzer analyzer = new();
        CSharpCompilation compilation = SnippetCompilation.Create(
            WithoutAllocator, references ? SnippetReferences.WithAllocator : SnippetReferences.BaseLibrary);
        CompilationWithAnalyzers run = compilation.WithAnalyzers([analyzer]);
        Assert.Empty(await run.GetAnalyzerDiagnosticsAsync());

        AnalyzerTelemetryInfo telemetry = (await run.GetAnalyzerTelemetryInfoAsync(analyzer, CancellationToken.None))!;

        Assert.Equal(1, telemetry.CompilationStartActionsCount);
        Assert.Equal(references ? 1 : 0, telemetry.OperationBlockStartActionsCount);
    }

    [Fact]
    public async Task ManyFiles_AnalysedAtOnce_EachReportedOnce()
    {
        const int Files = 200;
        string text = MarkedSource.Parse(Leak).Text;
        CSharpCompilation compilation = SnippetCompilation.Create("", SnippetReferences.WithAllocator)
            .AddSyntaxTrees(Enumerable.Range(0, Files).Select(file => CSharpSyntaxTree.ParseText(
                text.Replace("Example", $"Example{file}", StringComparison.Ordinal), SnippetCompilation.ParseOptions, $"{file}.cs")));
        SnippetCompilation.ThrowIfBroken(compilation, text);

        ImmutableArray<Diagnostic> found = await AnalyzerRun.Of(new LifetimeAnalyzer(), compilation);

        Assert.Equal(Files, found.Length);
        Assert.Equal(Files, found.Select(diagnostic => diagnostic.Location.SourceTree!.FilePath).Distinct().Count());
        Assert.All(found, diagnostic => Assert.Equal(RuleIds.NeverDisposed, diagnostic.Id));
    }

    // As while it is typed: it does not compile.
    [Theory]
    [InlineData("public Image(IMemoryOwner<byte> owner) : this(owner) { } public void Dispose() => _owner.Dispose();")]
    [InlineData("public Image(IMemoryOwner<byte> owner) { } public void Dispose() { IMemoryOwner<byte> o = o; o.Dispose(); }")]
    public async Task Code_ThatRefersToItself_Ends(string members)
    {
        CSharpCompilation compilation = SnippetCompilation.Create("", SnippetReferences.WithAllocator).AddSyntaxTrees(
            CSharpSyntaxTree.ParseText(
                $$"""
                using System.Buffers;
                public sealed class Image : System.IDisposable
                {
                    private readonly IMemoryOwner<byte> _owner = null!;
                    {{members}}
                    public static void Run() => new Image(Allocator.MemoryAllocator.Default.Allocate<byte>(64)).Dispose();
                }
                """,
                SnippetCompilation.ParseOptions));

        Assert.Equal(RuleIds.NeverDisposed, Assert.Single(await AnalyzerRun.Of(new LifetimeAnalyzer(), compilation)).Id);
    }

    [Theory]
    [InlineData(
        """
        public ref struct One { public Other Other; }
        public ref struct Other { public One One; }
        public static class Example
        {
            public static void Run()
            {
                using IMemoryOwner<byte> owner = MemoryAllocator.Default.Allocate<byte>(1);
                Make();
                static One Make() => default;
            }
        }
        """)]
    [InlineData(
        """
        public sealed class Image
        {
            private IMemoryOwner<byte>? _owner;
            private int _width, _height;
            public Image(IMemoryOwner<byte> owner) => _owner = owner;
            public void Reset() => (_owner, _width, _height) = (null, 0);
            public static void Run() => new Image(MemoryAllocator.Default.Allocate<byte>(64)).Reset();
        }
        """)]
    public async Task Code_ThatIsNotFinished_FailsNothing(string source)
    {
        CSharpCompilation compilation = SnippetCompilation.Create("", SnippetReferences.WithAllocator).AddSyntaxTrees(
            CSharpSyntaxTree.ParseText("using System.Buffers; using Allocator;\n" + source, SnippetCompilation.ParseOptions));

        Assert.DoesNotContain(await AnalyzerRun.Of(new LifetimeAnalyzer(), compilation), static found => found.Id == "AD0001");
    }

    [SkippableFact]
    public async Task PropertyWithCodeAroundItsField_IsNoView()
    {
        Skip.If(typeof(CSharpCompilation).Assembly.GetName().Version!.Major < 5, "The keyword is of C# 14.");
        await Snippet.File(
            """
            public sealed class Header { public ReadOnlyMemory<byte> Data { get; init => field = value.ToArray(); } }
            public static class Example
            {
                public static Header Read(MemoryAllocator allocator)
                {
                    using var owner = allocator.Allocate<byte>(4);
                    return new Header { Data = owner.Memory };
                }
            }
            """);
    }

    // There are 64 million ways through each.
    [Fact]
    public async Task LayersOfOwnersAndViews_EachLookedAtOnce()
    {
        IEnumerable<int> layers = Enumerable.Range(1, 26);
        string types = string.Concat(layers.Select(i =>
            $$"""
            public sealed class L{{i}} : IDisposable
            {
                private readonly L{{i - 1}} _a = new(), _b = new();
                public void Dispose() { _a.Dispose(); _b.Dispose(); }
            }

            """));
        string views = string.Concat(layers.Select(i => $"Span<byte> s{i} = Yes ? s{i - 1}[1..] : s{i - 1};\n"));

        await Snippet.File(
            $$"""
            public sealed class L0 : IDisposable
            {
                private readonly IMemoryOwner<byte> _owner = A.Allocate<byte>(64);
                public void Dispose() => _owner.Dispose();
                public static Span<byte> Part(Span<byte> s0) { {{views}} return s26; }
                public static void Run() => {|ALLOC004:new L26()|}.GetHashCode();
                public static void Clear() => {|ALLOC001:Part(A.Allocate<byte>(64).Memory.Span)|}.Clear();
            }
            {{types}}
            """);
    }

    // An overflow of the stack would end the compiler, and this process.
    [Theory]
    [InlineData("string")]
    [InlineData("Sum")]
    public async Task ExpressionOfThousandsOfTerms_IsNotAnalysed_AndTheRestIs(string type)
    {
        string terms = string.Concat(Enumerable.Repeat(" + one", 20_000));
        CSharpCompilation compilation = SnippetCompilation.Create("", SnippetReferences.WithAllocator).AddSyntaxTrees(
            CSharpSyntaxTree.ParseText(
                $$"""
                using Allocator;

                public static class Example
                {
                    public static void Long({{type}} one)
                    {
                        MemoryAllocator.Default.Allocate<byte>(64);
                        one = one{{terms}};
                    }

                    public static void Short() => MemoryAllocator.Default.Allocate<byte>(64);
                }

                public sealed class Sum { public static Sum operator +(Sum left, Sum right) => left; }
                """,
                SnippetCompilation.ParseOptions));

        Diagnostic found = Assert.Single(await AnalyzerRun.Of(new LifetimeAnalyzer(), compilation));

        Assert.Equal(RuleIds.NeverDisposed, found.Id);
        Assert.Equal(10, found.Location.GetLineSpan().StartLinePosition.Line);
    }

    // Each type of a layer disposes both of the layer below, and one of its own kind.
    [Fact]
    public async Task LayersOfTypesThatDisposeTheirOwnKind_EachLookedAtOnce()
    {
        string types = string.Concat(Enumerable.Range(1, 26).Select(i =>
            $$"""
            public sealed class L{{i}} : IDisposable
            {
                private readonly L{{i - 1}} _a = new(), _b = new();
                private L{{i}}? _next;
                public void Add(L{{i}} next) => _next = next;
                public void Dispose() { _next?.Dispose(); _a.Dispose(); _b.Dispose(); }
            }

            """));

        await Snippet.File(
            $$"""
            public sealed class L0 : IDisposable
            {
                private readonly IMemoryOwner<byte> _owner = A.Allocate<byte>(64);
                private L26? _top;
                public void Add(L26 top) => _top = top;
                public void Dispose() { _top?.Dispose(); _owner.Dispose(); }
                public static void Run() => {|ALLOC004:new L26()|}.GetHashCode();
            }
            {{types}}
            """);
    }

    // Fourth is asked about after Second, which is part of a cycle with First that is still open.
    [Fact]
    public async Task TypesThatDisposeEachOtherInACircle_EachOwns() => await Snippet.File(
        """
        public sealed class First : IDisposable
        {
            private readonly Second _second = new();
            private readonly Fourth _fourth = new();
            public void Dispose() { _second.Dispose(); _fourth.Dispose(); }
            public static void Run() { {|ALLOC004:new First()|}.GetHashCode(); {|ALLOC004:new Fourth()|}.GetHashCode(); }
        }
        public sealed class Second : IDisposable
        {
            private readonly IMemoryOwner<byte> _owner = A.Allocate<byte>(64);
            private Third? _third;
            private First? _first;
            public void Add(Third third, First first) => (_third, _first) = (third, first);
            public void Dispose() { _third?.Dispose(); _first?.Dispose(); _owner.Dispose(); }
        }
        public sealed class Third : IDisposable { private readonly Second _second = new(); public void Dispose() => _second.Dispose(); }
        public sealed class Fourth : IDisposable { private readonly Third _third = new(); public void Dispose() => _third.Dispose(); }
        """);

    [Fact]
    public async Task Cancelled_BeforeItStarts_Throws()
    {
        CSharpCompilation compilation = SnippetCompilation.Create(MarkedSource.Parse(Leak).Text, SnippetReferences.WithAllocator);

        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => AnalyzerRun.Of(new LifetimeAnalyzer(), compilation, cancellationToken: new CancellationToken(canceled: true)));
    }
}
