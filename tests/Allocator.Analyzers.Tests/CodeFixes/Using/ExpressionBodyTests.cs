using Allocator.Analyzers.Rules;
using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Allocator.CodeFixes.Using;
using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Tests.CodeFixes.Using;

public class ExpressionBodyTests
{
    [Fact]
    public Task MembersOnOneLine_StayOnIt() => FixVerifier.Fixes<DeclareOwnerWithUsing>(
        FixVerifier.Head + "    void M() => _allocator.Allocate<byte>(1).Memory.Span.Clear(); "
            + "int P => _allocator.Allocate<byte>(2).Memory.Length;\n}\n",
        FixVerifier.Head + "    void M() { using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(1); owner.Memory.Span.Clear(); } "
            + "int P { get { using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(2); return owner.Memory.Length; } }\n}\n");

    [Fact]
    public Task LineEndsAndTabs_AreThoseOfTheFile()
    {
        string before = "using Allocator;\n\nclass C\n{\n"
            + "\tvoid M() => MemoryAllocator.Default.Allocate<byte>(64).Memory.Span.Clear();\n}";
        string after = "using Allocator;\n\nclass C\n{\n\tvoid M()\n\t{\n\t\t"
            + "using System.Buffers.IMemoryOwner<byte> owner = MemoryAllocator.Default.Allocate<byte>(64);\n"
            + "\t\towner.Memory.Span.Clear();\n\t}\n}";
        return FixVerifier.Fixes<DeclareOwnerWithUsing>(before.ReplaceLineEndings("\r\n"), after.ReplaceLineEndings("\r\n"));
    }

    // The analyzer says nothing today; the fix does not rely on it.
    [Theory]
    [InlineData("public Task M(Stream stream) => stream.WriteAsync(_allocator.Allocate<byte>(64).Memory).AsTask();")]
    [InlineData("public ValueTask M(Stream stream) { return stream.WriteAsync(_allocator.Allocate<byte>(64).Memory); }")]
    [InlineData("public Func<Task> M(Stream stream) => () => stream.WriteAsync(_allocator.Allocate<byte>(64).Memory).AsTask();")]
    public async Task TaskThatUsesTheOwnerLater_HasNoFix(string member)
    {
        FixedProject project = FixedProject.Of(FixVerifier.Head + member + "\n}\n", new DeclareOwnerWithUsing());

        Assert.Empty(await project.Offers(await project.DiagnosticAt("_allocator.Allocate<byte>(64)", RuleIds.NeverDisposed)));
    }

    [Fact]
    public async Task TopLevelStatements_AreFixedAtOnce()
    {
        FixedProject project = FixedProject.Of(
            """
            using System;
            using System.Buffers;
            using Allocator;

            if (args.Length > 0)
                Console.WriteLine(MemoryAllocator.Default.Allocate<byte>(1).Memory.Length);

            IMemoryOwner<byte> a = MemoryAllocator.Default.Allocate<byte>(2), b = MemoryAllocator.Default.Allocate<byte>(3);
            a.Memory.Span.CopyTo(b.Memory.Span);
            Func<int> length = () => MemoryAllocator.Default.Allocate<byte>(4).Memory.Length;
            Console.WriteLine(length() + Local());
            int Local() => MemoryAllocator.Default.Allocate<byte>(5).Memory.Length;
            """,
            new DeclareOwnerWithUsing(),
            LanguageVersion.Latest,
            OutputKind.ConsoleApplication);

        await project.FixAll(await project.Diagnostics());

        Assert.Empty(await project.Diagnostics());
        Assert.Equal(
            """
            using System;
            using System.Buffers;
            using Allocator;

            if (args.Length > 0)
            {
                using IMemoryOwner<byte> owner = MemoryAllocator.Default.Allocate<byte>(1);
                Console.WriteLine(owner.Memory.Length);
            }

            using IMemoryOwner<byte> a = MemoryAllocator.Default.Allocate<byte>(2);
            using IMemoryOwner<byte> b = MemoryAllocator.Default.Allocate<byte>(3);
            a.Memory.Span.CopyTo(b.Memory.Span);
            Func<int> length = () =>
            {
                using IMemoryOwner<byte> owner2 = MemoryAllocator.Default.Allocate<byte>(4);
                return owner2.Memory.Length;
            };
            Console.WriteLine(length() + Local());
            int Local()
            {
                using IMemoryOwner<byte> owner3 = MemoryAllocator.Default.Allocate<byte>(5);
                return owner3.Memory.Length;
            }
            """,
            await project.Text());
    }
}
