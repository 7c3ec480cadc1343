using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Allocator.CodeFixes.Awaiting;
using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Tests.CodeFixes.Awaiting;

public class AwaitReturnedTaskTests
{
    [Fact]
    public Task SpansBeforeTheAwait_AreAllowedSinceCSharp13() => Fixes(
        SpanBeforeTheTask("Task"), SpanBeforeTheTask("async Task").Replace("return", "await", StringComparison.Ordinal));

    [Fact]
    public Task LineEnds_AreThoseOfTheFile()
    {
        string before = FixVerifier.Head + SpanBeforeTheTask("ValueTask").Replace(".AsTask()", "", StringComparison.Ordinal)
            .Replace("return s", "if (span.Length > 1)\n            return s", StringComparison.Ordinal)
            .Replace("// end", "return default;", StringComparison.Ordinal) + "\n}\n";
        string after = before.Replace("ValueTask", "async ValueTask", StringComparison.Ordinal)
            .Replace(
                "            return stream.WriteAsync(owner.Memory);",
                "        {\n            await stream.WriteAsync(owner.Memory);\n            return;\n        }",
                StringComparison.Ordinal)
            .Replace("return default;", "return;", StringComparison.Ordinal);

        return FixVerifier.Fixes<AwaitReturnedTask>(before.ReplaceLineEndings("\r\n"), after.ReplaceLineEndings("\r\n"));
    }

    [Fact]
    public async Task TopLevelTask_ThatIsDropped_IsAwaited()
    {
        FixedProject project = FixedProject.Of(
            "using Allocator;\n\nusing var owner = MemoryAllocator.Default.Allocate<byte>(64);\nvar stream = System.IO.Stream.Null;\n"
                + "await stream.FlushAsync();\n_ = stream.WriteAsync(owner.Memory);\n",
            new AwaitReturnedTask(),
            kind: Microsoft.CodeAnalysis.OutputKind.ConsoleApplication);

        await project.FixFirst();

        Assert.Contains("\nawait stream.WriteAsync(", await project.Text());
    }

    [Fact]
    public Task SpansInTheMethod_BeforeCSharp13_HaveNoFix() => FixVerifier.OffersNothing<AwaitReturnedTask>(
        FixVerifier.Head + """
            public Task M(Stream stream)
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                Span<byte> span = owner.Memory.Span;
                span.Fill(1);
                return stream.WriteAsync(owner.Memory).AsTask();
            }
        }
        """,
        LanguageVersion.CSharp12);

    [Theory]
    [InlineData("public Task M(Stream stream, ref int n)")]
    [InlineData("public Task M(Stream stream, in int n)")]
    [InlineData("public Task M(Stream stream, ReadOnlySpan<byte> header)")]
    [InlineData("public unsafe Task M(Stream stream)")]
    [InlineData("[MethodImpl(MethodImplOptions.Synchronized)] public Task M(Stream stream)")]
    public Task MethodThatCannotBeAsync_HasNoFix(string signature) => OffersNothing(
        $$"""
            {{signature}}
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                return stream.WriteAsync(owner.Memory).AsTask();
            }
        """);

    private static string SpanBeforeTheTask(string type) =>
        $$"""
            public {{type}} M(Stream stream)
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                Span<byte> span = owner.Memory.Span;
                span.Fill(1);
                return stream.WriteAsync(owner.Memory).AsTask();
                // end
            }
        """;

    private static Task Fixes(string before, string after) =>
        FixVerifier.Fixes<AwaitReturnedTask>(FixVerifier.Head + before + "\n}\n", FixVerifier.Head + after + "\n}\n");

    private static Task OffersNothing(string members) =>
        FixVerifier.OffersNothing<AwaitReturnedTask>(FixVerifier.Head + members + "\n}\n");
}
