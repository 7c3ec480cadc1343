using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Allocator.CodeFixes.Using;

namespace Allocator.Analyzers.Tests.CodeFixes.Using;

public class HoistedOwnerTests
{
    private const string Head =
        """
        using System;
        using System.Buffers;
        using System.IO;
        using Allocator;

        public class Snippet
        {
            private readonly MemoryAllocator _allocator = MemoryAllocator.Default;
            private readonly Random _random = new();


        """;

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
    public Task Temporary_IsDeclaredBeforeItsStatement() => Fixes(
        """
            public void M(int n)
            {
                // The header.
                Span<byte> span = _allocator.Allocate<byte>(n).Memory.Span; // of the file
                span[0] = 1;
            }
        """,
        """
            public void M(int n)
            {
                // The header.
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(n);
                Span<byte> span = owner.Memory.Span; // of the file
                span[0] = 1;
            }
        """);

    [Fact]
    public Task StatementThatBeginsWithTheOwner_IsFixed() => Fixes(
        """
            public void M()
            {
                _allocator.Allocate<byte>(64).Memory.Span.Clear();
            }
        """,
        """
            public void M()
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                owner.Memory.Span.Clear();
            }
        """);

    [Fact]
    public Task StatementsOnOneLine_StayOnIt() => Fixes(
        "    public void M() { _allocator.Allocate<byte>(64).Memory.Span.Clear(); }",
        "    public void M() { using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64); owner.Memory.Span.Clear(); }");

    [Fact]
    public Task Argument_IsFixed() => Fixes(
        """
            public int M(Stream stream)
            {
                if (stream.Read(_allocator.Allocate<byte>(64).Memory.Span) > 0)
                {
                    return 1;
                }

                return 0;
            }
        """,
        """
            public int M(Stream stream)
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                if (stream.Read(owner.Memory.Span) > 0)
                {
                    return 1;
                }

                return 0;
            }
        """);

    [Fact]
    public Task LoopOverATemporary_IsFixed() => Fixes(
        """
            public int M()
            {
                int sum = 0;
                foreach (byte value in _allocator.Allocate<byte>(64).Memory.Span)
                {
                    sum += value;
                }

                return sum;
            }
        """,
        """
            public int M()
            {
                int sum = 0;
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                foreach (byte value in owner.Memory.Span)
                {
                    sum += value;
                }

                return sum;
            }
        """);

    [Fact]
    public Task SeveralTemporaries_GetNamesOfTheirOwn() => FixesAll(
        """
            public void M(Action later)
            {
                string owner2 = "";
                Use(_allocator.Allocate<byte>(1).Memory.Span, owner2);
                if (later != null)
                {
                    Use(_allocator.Allocate<byte>(2).Memory.Span, owner2);
                }
            }

            public void N(MemoryAllocator owner)
            {
                Use(_allocator.Allocate<byte>(3).Memory.Span, "");
            }

            private static void Use(Span<byte> span, string name) => span.Clear();
        """,
        """
            public void M(Action later)
            {
                string owner2 = "";
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(1);
                Use(owner.Memory.Span, owner2);
                if (later != null)
                {
                    using IMemoryOwner<byte> owner3 = _allocator.Allocate<byte>(2);
                    Use(owner3.Memory.Span, owner2);
                }
            }

            public void N(MemoryAllocator owner)
            {
                using IMemoryOwner<byte> owner2 = _allocator.Allocate<byte>(3);
                Use(owner2.Memory.Span, "");
            }

            private static void Use(Span<byte> span, string name) => span.Clear();
        """);

    [Fact]
    public Task TwoTemporariesOfOneStatement_AreDeclaredInOrder() => FixesAll(
        """
            public void M()
            {
                _allocator.Allocate<byte>(1).Memory.Span.CopyTo(_allocator.Allocate<byte>(2).Memory.Span);
            }
        """,
        """
            public void M()
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(1);
                using IMemoryOwner<byte> owner2 = _allocator.Allocate<byte>(2);
                owner.Memory.Span.CopyTo(owner2.Memory.Span);
            }
        """);

    [Fact]
    public Task LineEndsAndTabs_AreThoseOfTheFile()
    {
        string before = Head + "\tvoid M()\n\t{\n\t\t_allocator.Allocate<byte>(64).Memory.Span.Clear();\n\t}\n}\n";
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
    [InlineData("if (n > 0) _allocator.Allocate<byte>(64).Memory.Span.Clear();")] // no room for a declaration
    [InlineData("Use(n > 0 ? _allocator.Allocate<byte>(64).Memory.Span : default);")] // not always allocated
    [InlineData("_ = n > 0 && Check(_allocator.Allocate<byte>(64).Memory.Span);")]
    [InlineData("while (Check(_allocator.Allocate<byte>(64).Memory.Span)) { }")] // one for each round
    [InlineData("Use(n++, _allocator.Allocate<byte>(n).Memory.Span);")] // its length is known in the middle of the statement
    [InlineData("Use(_random.Next(), _allocator.Allocate<byte>(n).Memory.Span);")]
    [InlineData("int a = n, b = _allocator.Allocate<byte>(a).Memory.Span[0];")]
    [InlineData("Action later = () => _allocator.Allocate<byte>(64).Memory.Span.Clear(); later();")]
    public Task AllocationThatCannotMove_HasNoFix(string statement) => OffersNothing(
        $$"""
            public void M(int n)
            {
                {{statement}}
            }

            private static void Use(Span<byte> span) => span.Clear();

            private static void Use(int number, Span<byte> span) => span.Clear();

            private static bool Check(Span<byte> span) => span[0] == 0;
        """);

    // It is there on one of the two ways only.
    [Fact]
    public Task OwnerHandedOutByAParameter_HasNoFix() => OffersNothing(
        """
            public void M()
            {
                _allocator.TryReserve(64, out MemoryReservation? reservation);
            }
        """);

    [Fact]
    public Task ExpressionBody_HasNoFix() => OffersNothing(
        """
            public void M() => _allocator.Allocate<byte>(64).Memory.Span.Clear();
        """);

    private static Task Fixes(string before, string after) =>
        FixVerifier.Fixes<DeclareOwnerWithUsing>(Head + before + "\n}\n", Head + after + "\n}\n");

    private static Task FixesAll(string before, string after) =>
        FixVerifier.FixesAll<DeclareOwnerWithUsing>(Head + before + "\n}\n", Head + after + "\n}\n");

    private static Task OffersNothing(string members) => FixVerifier.OffersNothing<DeclareOwnerWithUsing>(Head + members + "\n}\n");
}
