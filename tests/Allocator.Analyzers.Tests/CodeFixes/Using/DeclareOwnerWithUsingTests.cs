using Allocator.Analyzers.Rules;
using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Allocator.CodeFixes.Using;
using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Tests.CodeFixes.Using;

public class DeclareOwnerWithUsingTests
{
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
    public async Task TopLevelVariable_ThatIsAssignedAgain_HasNoFix()
    {
        FixedProject project = FixedProject.Of(
            "using Allocator;\n\nvar owner = MemoryAllocator.Default.Allocate<byte>(1);\nowner.Memory.Span[0] = 1;\n"
                + "owner = MemoryAllocator.Default.Allocate<byte>(2);\nowner.Dispose();\nowner = null;\n",
            new DeclareOwnerWithUsing(),
            LanguageVersion.Latest,
            Microsoft.CodeAnalysis.OutputKind.ConsoleApplication);

        Assert.Empty(await project.Offers((await project.Diagnostics())[0]));
    }

    // The analyzer says nothing today, because these let the owner out; the fix does not rely on it.
    [Theory]
    [InlineData("(owner, n) = (null!, 1);")]
    [InlineData("Replace(out owner);")]
    [InlineData("ref IMemoryOwner<byte> other = ref owner;")]
    [InlineData("owner ??= null!;")]
    public async Task VariableThatMayChange_HasNoFix(string change)
    {
        string source = FixVerifier.Head + $$"""
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
}
