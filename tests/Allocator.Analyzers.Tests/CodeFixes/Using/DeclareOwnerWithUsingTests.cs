using Allocator.Analyzers.Rules;
using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Allocator.CodeFixes.Using;
using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Tests.CodeFixes.Using;

public class DeclareOwnerWithUsingTests
{
    private const string Head =
        """
        using System;
        using System.Buffers;
        using Allocator;

        public class Snippet
        {
            private readonly MemoryAllocator _allocator = MemoryAllocator.Default;

            private static void Use(Span<byte> span) => span.Clear();


        """;

    [Fact]
    public Task SpanOfAnUndisposedOwner_IsFixed() => Fixes(
        """
            public void M()
            {
                IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                Span<byte> span = owner.Memory.Span;
                span[0] = 1;
            }
        """,
        """
            public void M()
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                Span<byte> span = owner.Memory.Span;
                span[0] = 1;
            }
        """);

    [Fact]
    public Task OwnerNeverDisposed_IsFixed() => Fixes(
        """
            public int M()
            {
                var pixels = _allocator.AllocatePixels<byte>(8, 8);
                return pixels.Width;
            }
        """,
        """
            public int M()
            {
                using var pixels = _allocator.AllocatePixels<byte>(8, 8);
                return pixels.Width;
            }
        """);

    [Fact]
    public Task CommentsAndLayout_AroundTheDeclaration_Stay() => Fixes(
        """
            public void M()
            {
                // Why it is needed.
                #region odd
                    /* a */ var /* b */ owner   = _allocator
                        .Allocate<byte>(64); // c
                #endregion
              owner.Memory.Span[0] = 1;   
            }
        """,
        """
            public void M()
            {
                // Why it is needed.
                #region odd
                    /* a */ using var /* b */ owner   = _allocator
                        .Allocate<byte>(64); // c
                #endregion
              owner.Memory.Span[0] = 1;   
            }
        """);

    [Fact]
    public Task EitherOfTwoAllocations_IsFixedByOneKeyword() => Fixes(
        """
            public void M(bool large)
            {
                var owner = large ? _allocator.Allocate<byte>(64) : _allocator.Allocate<byte>(32);
                owner.Memory.Span[0] = 1;
            }
        """,
        """
            public void M(bool large)
            {
                using var owner = large ? _allocator.Allocate<byte>(64) : _allocator.Allocate<byte>(32);
                owner.Memory.Span[0] = 1;
            }
        """);

    [Fact]
    public async Task TopLevelStatement_IsFixed()
    {
        FixedProject project = FixedProject.Of(
            "using System;\nusing Allocator;\n\nvar owner = MemoryAllocator.Default.Allocate<byte>(64);\nowner.Memory.Span[0] = 1;\n",
            new DeclareOwnerWithUsing(),
            LanguageVersion.Latest,
            Microsoft.CodeAnalysis.OutputKind.ConsoleApplication);

        await project.FixFirst();

        Assert.Contains("\nusing var owner = MemoryAllocator", await project.Text());
        Assert.Empty(await project.Diagnostics());
    }

    [Fact]
    public Task ReassignedVariable_HasNoFix() => OffersNothing(
        """
            public void M()
            {
                var owner = _allocator.Allocate<byte>(64);
                owner.Memory.Span[0] = 1;
                owner = _allocator.Allocate<byte>(8);
                owner.Memory.Span[0] = 1;
            }
        """);

    // The analyzer says nothing today, because these let the owner out; the fix does not rely on it.
    [Theory]
    [InlineData("(owner, n) = (null!, 1);")]
    [InlineData("Replace(out owner);")]
    [InlineData("ref IMemoryOwner<byte> other = ref owner;")]
    [InlineData("owner ??= null!;")]
    public async Task VariableThatMayChange_HasNoFix(string change)
    {
        string source = Head + $$"""
                public void M(int n)
                {
                    IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                    {{change}}
                }

                private static void Replace(out IMemoryOwner<byte> owner) => owner = null!;
            }
            """;
        FixedProject project = FixedProject.Of(source, new DeclareOwnerWithUsing());

        Assert.Empty(await project.Offers(await project.DiagnosticAt("_allocator.Allocate<byte>(64)", RuleIds.NeverDisposed)));
    }

    [Fact]
    public Task SwitchSection_HasNoFix() => OffersNothing(
        """
            public void M(int kind)
            {
                switch (kind)
                {
                    case 1:
                        var owner = _allocator.Allocate<byte>(64);
                        owner.Memory.Span[0] = 1;
                        break;
                }
            }
        """);

    [Fact]
    public Task SeveralDeclarators_HaveNoFix() => OffersNothing(
        """
            public void M()
            {
                IMemoryOwner<byte> a = _allocator.Allocate<byte>(64), b = _allocator.Allocate<byte>(64);
                a.Memory.Span[0] = 1;
                b.Memory.Span[0] = 1;
            }
        """);

    [Fact]
    public Task JumpsInTheSameBlock_HaveNoFix() => OffersNothing(
        """
            public void M(int n)
            {
            again:
                var owner = _allocator.Allocate<byte>(64);
                owner.Memory.Span[0] = 1;
                if (n-- > 0)
                {
                    goto again;
                }
            }
        """);

    [Fact]
    public Task SpanUsedBehindTheBlock_HasNoFix() => OffersNothing(
        """
            public void M(int n)
            {
                Span<byte> span = stackalloc byte[16];
                if (n > 16)
                {
                    IMemoryOwner<byte> owner = _allocator.Allocate<byte>(n);
                    span = owner.Memory.Span;
                }

                Use(span);
            }
        """);

    [Fact]
    public Task AnotherOwnerThatMayBeKept_HasNoFix() => OffersNothing(
        """
            private IMemoryOwner<byte>? _kept;

            public void M()
            {
                var owner = _kept ?? _allocator.Allocate<byte>(64);
                Span<byte> span = owner.Memory.Span;
                Use(span);
            }
        """);

    [Fact]
    public Task LanguageWithoutUsingDeclarations_HasNoFix() => FixVerifier.OffersNothing<DeclareOwnerWithUsing>(
        """
        public class Snippet
        {
            public void M()
            {
                var owner = Allocator.MemoryAllocator.Default.Allocate<byte>(64);
                owner.Memory.Span[0] = 1;
            }
        }
        """,
        LanguageVersion.CSharp7_3);

    private static Task Fixes(string before, string after) =>
        FixVerifier.Fixes<DeclareOwnerWithUsing>(Head + before + "\n}\n", Head + after + "\n}\n");

    private static Task OffersNothing(string members) => FixVerifier.OffersNothing<DeclareOwnerWithUsing>(Head + members + "\n}\n");
}
