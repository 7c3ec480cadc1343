namespace Allocator.Analyzers.Tests.Disposal;

public sealed class UseAfterDisposeTests
{
    [Fact]
    public Task Span_AfterDispose_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        owner.Dispose();
        Check({|ALLOC002:s[0]|});
        """);

    [Fact]
    public Task Span_TakenAfterDispose_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        owner.Dispose();
        Span<byte> s = {|ALLOC002:owner.Memory.Span|};
        s.Clear();
        """);

    [Fact]
    public Task Span_AfterUsingStatement_Reported() => Snippet.Body(
        """
        Span<byte> s;
        using (var owner = A.Allocate<byte>(64))
        {
            s = owner.Memory.Span;
        }

        Check({|ALLOC002:s[0]|});
        """);

    [Fact]
    public Task Memory_AfterUsingStatement_Reported() => Snippet.Body(
        """
        Memory<byte> m;
        using (var owner = A.Allocate<byte>(64))
        {
            m = owner.Memory;
        }

        {|ALLOC002:m.Span|}.Clear();
        """);

    [Fact]
    public Task Memory_CopiedToArrayAfterDispose_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Memory<byte> m = owner.Memory;
        owner.Dispose();
        byte[] copy = {|ALLOC002:m.ToArray()|};
        Keep(copy);
        """);

    [Fact]
    public Task Memory_PinnedAfterDispose_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Memory<byte> m = owner.Memory;
        owner.Dispose();
        using MemoryHandle handle = {|ALLOC002:m.Pin()|};
        """);

    [Fact]
    public Task Span_DisposedInBothBranches_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        if (Yes)
        {
            owner.Dispose();
        }
        else
        {
            Number = 1;
            owner.Dispose();
        }

        Check({|ALLOC002:s[0]|});
        """);

    [Fact]
    public Task Span_DisposedByNullConditional_Reported() => Snippet.Body(
        """
        IMemoryOwner<byte>? owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        owner?.Dispose();
        Check({|ALLOC002:s[0]|});
        """);

    [Fact]
    public Task Span_DisposedInFinally_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        try
        {
            s.Clear();
        }
        finally
        {
            owner.Dispose();
        }

        Check({|ALLOC002:s[0]|});
        """);

    [Fact]
    public Task Row_AfterDispose_Reported() => Snippet.Body(
        """
        var buffer = A.AllocatePixels<byte>(8, 8);
        buffer.Dispose();
        Span<byte> row = {|ALLOC002:buffer.DangerousGetRowSpan(0)|};
        row.Clear();
        """);

    [Fact]
    public Task PixelBuffer_ClonedAfterDispose_Reported() => Snippet.Body(
        """
        var buffer = A.AllocatePixels<byte>(8, 8);
        buffer.Dispose();
        using var clone = {|ALLOC002:buffer.Clone()|};
        """);

    [Fact]
    public Task PixelBuffer_ClearedAfterDispose_Reported() => Snippet.Body(
        """
        var buffer = A.AllocatePixels<byte>(8, 8);
        buffer.Dispose();
        {|ALLOC002:buffer.Clear()|};
        """);

    [Fact]
    public Task Group_FilledAfterDispose_Reported() => Snippet.Body(
        """
        var group = A.AllocateGroup<byte>(64);
        group.Dispose();
        {|ALLOC002:group.Fill(1)|};
        """);

    [Fact]
    public Task Lease_UsedAfterDispose_Reported() => Snippet.Body(
        """
        var lease = A.Rent<byte>(64);
        Span<byte> s = lease.Span;
        lease.Dispose();
        Check({|ALLOC002:s[0]|});
        """);

    // A copy is the same lease.
    [Fact]
    public Task Lease_CopyUsedAfterDispose_Reported() => Snippet.Body(
        """
        var lease = A.Rent<byte>(64);
        var copy = lease;
        lease.Dispose();
        {|ALLOC002:copy.Span|}.Clear();
        """);

    [Fact]
    public Task Pointer_AfterDispose_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        fixed (byte* p = owner.Memory.Span)
        {
            owner.Dispose();
            Check({|ALLOC002:*p|});
        }
        """);

    [Fact]
    public Task Span_AliasDisposed_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        IDisposable other = owner;
        Span<byte> s = owner.Memory.Span;
        other.Dispose();
        Check({|ALLOC002:s[0]|});
        """);

    [Fact]
    public Task Span_OfEitherOwnerAfterUsing_Reported() => Snippet.Body(
        """
        Span<byte> s;
        using (var owner = Yes ? A.Allocate<byte>(64) : A.Allocate<byte>(32))
        {
            s = owner.Memory.Span;
        }

        Check({|ALLOC002:{|ALLOC002:s[0]|}|});
        """);

    [Fact]
    public Task Memory_GivenToAwaitedCallAfterDispose_Reported() => Snippet.Members(
        """
        public static async Task Run(Stream stream)
        {
            var owner = A.Allocate<byte>(64);
            Memory<byte> m = owner.Memory;
            owner.Dispose();
            await {|ALLOC002:stream.WriteAsync(m)|};
        }
        """);

    [Fact]
    public Task Span_GivenToConstructor_Reported() => Snippet.Members(
        """
        public static Guid Run()
        {
            var owner = A.Allocate<byte>(16);
            Span<byte> s = owner.Memory.Span;
            owner.Dispose();
            return {|ALLOC002:new Guid(s)|};
        }
        """);
}
