namespace Allocator.Analyzers.Tests.Finalizable;

public sealed class LibraryOwnerTests
{
    [Fact]
    public Task Row_OfPixelBuffer_Reported() => Snippet.Body(
        """
        var buffer = A.AllocatePixels<byte>(8, 8);
        Span<byte> row = buffer.DangerousGetRowSpan(1);
        Gc();
        Check({|ALLOC001:row[0]|});
        """);

    [Fact]
    public Task Row_OfPixelBufferThatIsDisposed_Silent() => Snippet.Body(
        """
        using var buffer = A.AllocatePixels<byte>(8, 8);
        Span<byte> row = buffer.DangerousGetRowSpan(1);
        Gc();
        Check(row[0]);
        """);

    [Fact]
    public Task Span_OfSingleMemory_Reported() => Snippet.Body(
        """
        var buffer = A.AllocatePixels<byte>(8, 8);
        if (buffer.DangerousTryGetSingleMemory(out Memory<byte> memory))
        {
            Span<byte> s = memory.Span;
            Gc();
            Check({|ALLOC001:s[0]|});
        }
        """);

    [Fact]
    public Task Span_OfSingleMemoryThatIsUsedLater_Silent() => Snippet.Body(
        """
        using var buffer = A.AllocatePixels<byte>(8, 8);
        if (buffer.DangerousTryGetSingleMemory(out Memory<byte> memory))
        {
            Span<byte> s = memory.Span;
            Check(s[0]);
        }
        """);

    [Fact]
    public Task Span_OfGroupMember_Reported() => Snippet.Body(
        """
        var group = A.AllocateGroup<byte>(1 << 24);
        Span<byte> s = group[0].Span;
        Gc();
        Check({|ALLOC001:s[0]|});
        """);

    [Fact]
    public Task Span_OfEnumeratedGroup_Silent() => Snippet.Body(
        """
        using var group = A.AllocateGroup<byte>(1 << 24);
        foreach (Memory<byte> member in group)
        {
            Span<byte> s = member.Span;
            s.Clear();
        }
        """);

    [Fact]
    public Task Span_OfEnumeratedGroupNeverDisposed_Reported() => Snippet.Body(
        """
        var group = A.AllocateGroup<byte>(1 << 24);
        foreach (Memory<byte> member in group)
        {
            Check(member.Span[0]);
        }

        Span<byte> s = group[0].Span;
        Check({|ALLOC001:s[0]|});
        """);

    // The guard behind a lease is finalized like any other; the compiler keeps the span in the scope of the variable, not the variable
    // alive.
    [Fact]
    public Task Span_OfLease_Reported() => Snippet.Body(
        """
        var lease = A.Rent<byte>(1 << 21);
        Span<byte> s = lease.Span;
        Gc();
        Check({|ALLOC001:s[0]|});
        """);

    [Fact]
    public Task Span_OfLeaseInUsing_Silent() => Snippet.Body(
        """
        using var lease = A.Rent<byte>(1 << 21);
        Span<byte> s = lease.Span;
        Gc();
        Check(s[0]);
        """);

    [Fact]
    public Task Accessor_InDelegate_Silent() => Snippet.Body(
        """
        var buffer = A.AllocatePixels<byte>(8, 8);
        buffer.ProcessPixelRows(static accessor =>
        {
            Span<byte> row = accessor.GetRowSpan(0);
            Gc();
            Check(row[0]);
        });
        buffer.Dispose();
        """);
}
