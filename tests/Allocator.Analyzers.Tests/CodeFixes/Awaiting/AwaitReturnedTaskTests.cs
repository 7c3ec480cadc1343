using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Allocator.CodeFixes.Awaiting;

namespace Allocator.Analyzers.Tests.CodeFixes.Awaiting;

public class AwaitReturnedTaskTests
{
    private const string Head =
        """
        using System;
        using System.Buffers;
        using System.IO;
        using System.Runtime.CompilerServices;
        using System.Threading.Tasks;
        using Allocator;

        public class Snippet
        {
            private readonly MemoryAllocator _allocator = MemoryAllocator.Default;


        """;

    public static TheoryData<string> Cases => FixVerifier.Cases("AwaitReturnedTask");

    [Theory]
    [MemberData(nameof(Cases))]
    public Task Fix_OfACase_IsAsItsFileShows(string name) => FixVerifier.Check<AwaitReturnedTask>(name, Head, "\n}\n");

    [Fact]
    public Task SpansBeforeTheAwait_AreAllowedSinceCSharp13() => Fixes(
        SpanBeforeTheTask("Task"), SpanBeforeTheTask("async Task").Replace("return", "await", StringComparison.Ordinal));

    [Fact]
    public Task LineEnds_AreThoseOfTheFile()
    {
        string before = Head + SpanBeforeTheTask("ValueTask").Replace(".AsTask()", "", StringComparison.Ordinal)
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
        FixVerifier.Fixes<AwaitReturnedTask>(Head + before + "\n}\n", Head + after + "\n}\n");
}
