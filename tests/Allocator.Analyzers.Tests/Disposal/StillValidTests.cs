namespace Allocator.Analyzers.Tests.Disposal;

public sealed class StillValidTests
{
    [Fact]
    public Task Span_DisposedOnOnePath_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        if (Yes)
        {
            owner.Dispose();
        }

        Check(s[0]);
        """);

    // `other` is the owner on one path only: on the other it is still good.
    [Fact]
    public Task Span_DisposedThroughVariableThatMayBeAnother_Silent() => Snippet.Members(
        """
        public static void Run(IMemoryOwner<byte> parameter)
        {
            var owner = A.Allocate<byte>(64);
            IMemoryOwner<byte> other = parameter;
            if (Yes)
            {
                other = owner;
            }

            other.Dispose();
            Check(owner.Memory.Span[0]);
        }
        """);

    [Fact]
    public Task Span_DisposedThroughVariableThatMayBeNull_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        IMemoryOwner<byte>? other = owner;
        if (Yes)
        {
            other = null;
        }

        other?.Dispose();
        Check(owner.Memory.Span[0]);
        """);

    [Fact]
    public Task Span_DisposedThroughCast_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        (owner as MemoryManager<byte> as IDisposable)?.Dispose();
        Check(owner.Memory.Span[0]);
        GC.KeepAlive(owner);
        """);

    // A pin keeps the memory out of the pool until it is unpinned.
    [Fact]
    public Task Span_PinnedPastDispose_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        using MemoryHandle handle = owner.Memory.Pin();
        Span<byte> s = owner.Memory.Span;
        owner.Dispose();
        Check(s[0]);
        """);

    [Fact]
    public Task Span_OwnerWentElsewhereBeforeDispose_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Keep(owner);
        Span<byte> s = owner.Memory.Span;
        owner.Dispose();
        Check(s[0]);
        """);

    [Fact]
    public Task Span_LengthAfterDispose_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        owner.Dispose();
        Number = s.Length;
        """);

    [Fact]
    public Task Span_Overwritten_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        owner.Dispose();
        s = new byte[4];
        Check(s[0]);
        """);

    [Fact]
    public Task Owner_AllocatedAnewAfterDispose_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        owner.Dispose();
        owner = A.Allocate<byte>(32);
        owner.Memory.Span.Clear();
        owner.Dispose();
        """);

    [Fact]
    public Task Owner_DisposedAtEndOfEachRound_Silent() => Snippet.Body(
        """
        for (int i = 0; i < 3; i++)
        {
            var owner = A.Allocate<byte>(64);
            owner.Memory.Span.Clear();
            owner.Dispose();
        }
        """);

    [Fact]
    public Task Owner_GrownInLoop_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        while (Yes)
        {
            var larger = A.Allocate<byte>(owner.Memory.Length * 2);
            owner.Memory.Span.CopyTo(larger.Memory.Span);
            owner.Dispose();
            owner = larger;
        }

        owner.Dispose();
        """);

    [Fact]
    public Task Owner_DisposedTwice_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        owner.Dispose();
        owner.Dispose();
        """);

    [Fact]
    public Task Owner_PropertiesAfterDispose_Silent() => Snippet.Body(
        """
        var buffer = A.AllocatePixels<byte>(8, 8);
        buffer.Dispose();
        Number = buffer.Width + buffer.Height;
        """);

    [Fact]
    public Task Owner_ThrowsInLambda_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        owner.Dispose();
        Action use = () => owner.Memory.Span.Clear();
        use();
        """);

    [Fact]
    public Task Span_DisposedInCatchThatLeaves_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        try
        {
            Gc();
        }
        catch (InvalidOperationException)
        {
            owner.Dispose();
            return;
        }

        owner.Memory.Span.Clear();
        owner.Dispose();
        """);

    [Fact]
    public Task Span_DisposedInConditionalFinally_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        bool failed = true;
        try
        {
            Gc();
            failed = false;
        }
        finally
        {
            if (failed)
            {
                owner.Dispose();
            }
        }

        owner.Memory.Span.Clear();
        owner.Dispose();
        """);

    // They tell one object from another, and leave the memory alone.
    [Theory]
    [InlineData("owner.GetHashCode()")]
    [InlineData("owner.GetType()")]
    [InlineData("owner.Equals(Probe.Field)")]
    [InlineData("owner.ToString()")]
    [InlineData("memory.GetHashCode()")]
    [InlineData("memory.Equals(default(Memory<byte>))")]
    public Task Identity_AskedForAfterDispose_Silent(string expression) => Snippet.Members(
        $$"""
        public static object? Run()
        {
            var owner = A.Allocate<byte>(64);
            Memory<byte> memory = owner.Memory;
            owner.Dispose();
            return {{expression}};
        }
        """);

    [Fact]
    public Task Text_OfMemoryAfterDispose_Reported() => Snippet.Members(
        """
        public static string Run()
        {
            var owner = A.Allocate<char>(64);
            Memory<char> memory = owner.Memory;
            owner.Dispose();
            return {|ALLOC002:memory.ToString()|};
        }
        """);
}
