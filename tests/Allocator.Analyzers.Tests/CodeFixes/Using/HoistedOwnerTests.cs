using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Allocator.CodeFixes.Using;

namespace Allocator.Analyzers.Tests.CodeFixes.Using;

public class HoistedOwnerTests
{
    private const string WithoutImports =
        """
        class C
        {
            void M()
            {
                Allocator.MemoryAllocator.Default.Allocate<byte>(64).Memory.Span.Clear();
            }
        }
        """;

    [Fact]
    public Task StatementsOnOneLine_StayOnIt() => Fixes(
        "    public void M() { _allocator.Allocate<byte>(64).Memory.Span.Clear(); }",
        "    public void M() { using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64); owner.Memory.Span.Clear(); }");

    [Fact]
    public Task LineEndsAndTabs_AreThoseOfTheFile()
    {
        string before = FixVerifier.Head + "\tvoid M()\n\t{\n\t\t_allocator.Allocate<byte>(64).Memory.Span.Clear();\n\t}\n}\n";
        string after = before.Replace(
            "_allocator.Allocate<byte>(64).",
            "using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);\n\t\towner.",
            StringComparison.Ordinal);
        return FixVerifier.Fixes<DeclareOwnerWithUsing>(before.ReplaceLineEndings("\r\n"), after.ReplaceLineEndings("\r\n"));
    }

    [Fact]
    public async Task NamespaceNotImported_IsWritten()
    {
        FixedProject project = FixedProject.Of(WithoutImports, new DeclareOwnerWithUsing());

        await project.FixFirst();

        Assert.Contains("using System.Buffers.IMemoryOwner<byte> owner = Allocator.", await project.Text());
        Assert.Empty(await project.Diagnostics());
    }

    [Fact]
    public async Task ConfiguredVar_IsUsed()
    {
        FixedProject project = FixedProject.Of(WithoutImports, new DeclareOwnerWithUsing())
            .WithConfig("root = true\n[*.cs]\ncsharp_style_var_elsewhere = true:silent\n");

        await project.FixFirst();

        Assert.Contains("using var owner = Allocator.", await project.Text());
    }

    [Theory]
    [InlineData("Use(n > 0 ? _allocator.Allocate<byte>(64).Memory.Span : default);")] // not always allocated
    [InlineData("_ = n > 0 && Check(_allocator.Allocate<byte>(64).Memory.Span);")]
    [InlineData("while (Check(_allocator.Allocate<byte>(64).Memory.Span)) { }")] // one for each round
    [InlineData("Use(n++, _allocator.Allocate<byte>(n).Memory.Span);")] // its length is known in the middle of the statement
    [InlineData("Use(_random.Next(), _allocator.Allocate<byte>(n).Memory.Span);")]
    [InlineData("int a = n, b = _allocator.Allocate<byte>(a).Memory.Span[0];")]
    public Task AllocationThatCannotMove_HasNoFix(string statement) => OffersNothing(
        $$"""
            public void M(int n)
            {
                {{statement}}
            }

            private static void Use(int number, Span<byte> span) => span.Clear();

            private static bool Check(Span<byte> span) => span[0] == 0;
        """);

    private static Task Fixes(string before, string after) =>
        FixVerifier.Fixes<DeclareOwnerWithUsing>(FixVerifier.Head + before + "\n}\n", FixVerifier.Head + after + "\n}\n");

    private static Task OffersNothing(string members) =>
        FixVerifier.OffersNothing<DeclareOwnerWithUsing>(FixVerifier.Head + members + "\n}\n");
}
