using Allocator.CodeFixes.Awaiting;
using Allocator.Analyzers.Tests.CodeFixes.Fixing;

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

    [Fact]
    public Task TaskWithoutResult_IsAwaited() => Fixes(
        """
            /// <summary>Writes zeros.</summary>
            public Task M(Stream stream)
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                return stream.WriteAsync(owner.Memory).AsTask(); // all of it
            }
        """,
        """
            /// <summary>Writes zeros.</summary>
            public async Task M(Stream stream)
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                await stream.WriteAsync(owner.Memory).AsTask(); // all of it
            }
        """);

    [Fact]
    public Task TaskWithResult_IsAwaitedAndReturned() => Fixes(
        """
            public ValueTask<int> M(Stream stream, bool skip)
            {
                if (skip)
                {
                    return default;
                }

                if (!stream.CanRead)
                {
                    return skip ? ValueTask.FromResult(1) : new ValueTask<int>(2);
                }

                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                return stream.ReadAsync(owner.Memory);
            }
        """,
        """
            public async ValueTask<int> M(Stream stream, bool skip)
            {
                if (skip)
                {
                    return default;
                }

                if (!stream.CanRead)
                {
                    return await (skip ? ValueTask.FromResult(1) : new ValueTask<int>(2));
                }

                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                return await stream.ReadAsync(owner.Memory);
            }
        """);

    [Fact]
    public Task CompletedTasks_AreReturnedWithout() => Fixes(
        """
            public Task M(Stream stream, int n)
            {
                if (n == 0)
                {
                    return Task.CompletedTask;
                }

                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(n);
                return stream.WriteAsync(owner.Memory).AsTask();
            }

            public Task<int> N(Stream stream, int n)
            {
                if (n == 0)
                {
                    return Task.FromResult(/* none */ n + 1);
                }

                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(n);
                return stream.ReadAsync(owner.Memory).AsTask();
            }
        """,
        """
            public async Task M(Stream stream, int n)
            {
                if (n == 0)
                {
                    return;
                }

                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(n);
                await stream.WriteAsync(owner.Memory).AsTask();
            }

            public async Task<int> N(Stream stream, int n)
            {
                if (n == 0)
                {
                    return n + 1;
                }

                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(n);
                return await stream.ReadAsync(owner.Memory).AsTask();
            }
        """);

    [Fact]
    public Task ReturnsInTheMiddle_AwaitAndLeave() => Fixes(
        """
            public ValueTask M(Stream stream, int n)
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                if (n == 0)
                    return stream.WriteAsync(owner.Memory); // none

                if (n == 1) return stream.WriteAsync(owner.Memory);

                switch (n)
                {
                    case 2:
                        return stream.WriteAsync(owner.Memory);
                }

                while (n > 9)
                {
                    return stream.WriteAsync(owner.Memory); // many
                }

                if (n == 3)
                {
                    return stream.WriteAsync(owner.Memory);
                }
                else
                    return stream.WriteAsync(owner.Memory);
            }
        """,
        """
            public async ValueTask M(Stream stream, int n)
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                if (n == 0)
                {
                    await stream.WriteAsync(owner.Memory); // none
                    return;
                }

                if (n == 1) { await stream.WriteAsync(owner.Memory); return; }

                switch (n)
                {
                    case 2:
                        await stream.WriteAsync(owner.Memory);
                        return;
                }

                while (n > 9)
                {
                    await stream.WriteAsync(owner.Memory); // many
                    return;
                }

                if (n == 3)
                {
                    await stream.WriteAsync(owner.Memory);
                }
                else
                    await stream.WriteAsync(owner.Memory);
            }
        """);

    [Fact]
    public Task UsingStatementAndLocalFunction_AreFixed() => Fixes(
        """
            public static Task M(Stream stream, MemoryAllocator allocator)
            {
                return Local();

                Task Local()
                {
                    using (IMemoryOwner<byte> owner = allocator.Allocate<byte>(64))
                    {
                        return stream.WriteAsync(owner.Memory).AsTask();
                    }
                }
            }
        """,
        """
            public static Task M(Stream stream, MemoryAllocator allocator)
            {
                return Local();

                async Task Local()
                {
                    using (IMemoryOwner<byte> owner = allocator.Allocate<byte>(64))
                    {
                        await stream.WriteAsync(owner.Memory).AsTask();
                    }
                }
            }
        """);

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
