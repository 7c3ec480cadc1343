using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Allocator.CodeFixes.Awaiting;
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

    public static TheoryData<string> Cases => FixVerifier.Cases("AsyncLegality");

    [Theory]
    [MemberData(nameof(Cases))]
    public Task Fix_OfACase_IsAsItsFileShows(string name) => FixVerifier.Check<AwaitReturnedTask>(name, Head, "\n}\n");

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

    private static Task OffersNothing(string members) => FixVerifier.OffersNothing<AwaitReturnedTask>(Head + members + "\n}\n");
}
