using Allocator.CodeFixes.Awaiting;
using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Tests.CodeFixes.Awaiting;

public class AsyncLegalityTests
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

            private readonly object _lock = new();


        """;

    [Fact]
    public Task SpansInTheMethod_BeforeCSharp13_HaveNoFix() => FixVerifier.OffersNothing<AwaitReturnedTask>(
        Head + """
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

    [Fact]
    public Task OutParameter_HasNoFix() => OffersNothing(
        """
            public Task M(Stream stream, out int n)
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(n = 64);
                return stream.WriteAsync(owner.Memory).AsTask();
            }
        """);

    [Fact]
    public Task Lock_HasNoFix() => OffersNothing(
        """
            public Task M(Stream stream)
            {
                lock (_lock)
                {
                    using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                    return stream.WriteAsync(owner.Memory).AsTask();
                }
            }
        """);

    [Fact]
    public Task Lambda_HasNoFix() => OffersNothing(
        """
            public Func<Stream, Task> M() => stream =>
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                return stream.WriteAsync(owner.Memory).AsTask();
            };
        """);

    [Fact]
    public Task MethodOfAStruct_HasNoFix() => OffersNothing(
        """
            public struct Counter
            {
                private int _count;

                public Task M(Stream stream)
                {
                    using IMemoryOwner<byte> owner = MemoryAllocator.Default.Allocate<byte>(_count++);
                    return stream.WriteAsync(owner.Memory).AsTask();
                }
            }
        """);

    [Fact]
    public Task SpanDisposedOrUsedAfterTheAwait_HasNoFix() => OffersNothing(
        """
            public Task M(Stream stream)
            {
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                Span<byte> span = owner.Memory.Span;
                try
                {
                    return stream.WriteAsync(owner.Memory).AsTask();
                }
                finally
                {
                    span.Clear();
                }
            }

            public Task N(Stream stream)
            {
                using MemoryLease<byte> lease = _allocator.Rent<byte>(64);
                using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(64);
                return stream.WriteAsync(owner.Memory).AsTask();
            }
        """);

    private static Task OffersNothing(string members) => FixVerifier.OffersNothing<AwaitReturnedTask>(Head + members + "\n}\n");
}
