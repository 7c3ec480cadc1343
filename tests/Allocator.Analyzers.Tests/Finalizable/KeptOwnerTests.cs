namespace Allocator.Analyzers.Tests.Finalizable;

public sealed class KeptOwnerTests
{
    [Fact]
    public Task Span_UsingDeclaration_Silent() => Snippet.Body(
        """
        using var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        """);

    [Fact]
    public Task Span_UsingStatement_Silent() => Snippet.Body(
        """
        using (var owner = A.Allocate<byte>(64))
        {
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
        }
        """);

    [Fact]
    public Task Span_TryFinally_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        try
        {
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
        }
        finally
        {
            owner.Dispose();
        }
        """);

    [Fact]
    public Task Span_DisposeAfterwards_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        owner.Dispose();
        """);

    [Fact]
    public Task Span_KeepAliveAfterwards_OnlyLeak() => Snippet.Body(
        """
        var owner = {|ALLOC004:A.Allocate<byte>(64)|};
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        GC.KeepAlive(owner);
        """);

    [Fact]
    public Task Span_OwnerReturned_Silent() => Snippet.Members(
        """
        public static IMemoryOwner<byte> Run()
        {
            var owner = A.Allocate<byte>(64);
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
            return owner;
        }
        """);

    [Fact]
    public Task Span_MemoryUsedLater_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Memory<byte> m = owner.Memory;
        Span<byte> s = m.Span;
        Gc();
        Check(s[0]);
        KeepMemory(m);
        """);

    [Fact]
    public Task Span_OwnerAllocatedOnOnePath_Silent() => Snippet.Body(
        """
        IMemoryOwner<byte>? owner = null;
        Span<byte> s = stackalloc byte[16];
        if (Yes)
        {
            owner = A.Allocate<byte>(64);
            s = owner.Memory.Span;
        }

        Gc();
        Check(s[0]);
        owner?.Dispose();
        """);

    [Fact]
    public Task Span_InEachRoundOfLoop_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        for (int i = 0; i < 3; i++)
        {
            Span<byte> s = owner.Memory.Span.Slice(i);
            Gc();
            Check(s[0]);
        }

        owner.Dispose();
        """);

    [Fact]
    public Task Span_AliasDisposed_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        var other = owner;
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        other.Dispose();
        """);

    [Fact]
    public Task Span_EitherOfTwoOwnersInUsing_Silent() => Snippet.Body(
        """
        using var owner = Yes ? A.Allocate<byte>(64) : A.Allocate<byte>(32);
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        """);

    [Fact]
    public Task Span_OnlyLengthAfterwards_OnlyLeak() => Snippet.Body(
        """
        var owner = {|ALLOC004:A.Allocate<byte>(64)|};
        Span<byte> s = owner.Memory.Span;
        Gc();
        Number = s.Length;
        if (s.IsEmpty)
        {
            Number = 1;
        }
        """);

    [Fact]
    public Task Span_Reassigned_OnlyLeak() => Snippet.Body(
        """
        var owner = {|ALLOC004:A.Allocate<byte>(64)|};
        Span<byte> s = owner.Memory.Span;
        Number = s.Length;
        s = new byte[8];
        Gc();
        Check(s[0]);
        """);

    [Fact]
    public Task Span_DisposedInCatchAndAfterwards_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        try
        {
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
        }
        catch
        {
            owner.Dispose();
            throw;
        }

        owner.Dispose();
        """);

    [Fact]
    public Task Span_UsingOverExistingVariable_Silent() => Snippet.Body(
        """
        IMemoryOwner<byte> owner;
        using (owner = A.Allocate<byte>(64))
        {
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
        }
        """);

    [Fact]
    public Task Span_NullableUsingOrStack_Silent() => Snippet.Body(
        """
        using IMemoryOwner<byte>? owner = Yes ? A.Allocate<byte>(64) : null;
        Span<byte> s = owner is null ? stackalloc byte[16] : owner.Memory.Span;
        Gc();
        Check(s[0]);
        """);

    [Fact]
    public Task Pointer_OfPinHandle_Silent() => Snippet.Body(
        """
        using var owner = A.Allocate<byte>(64);
        using MemoryHandle handle = owner.Memory.Pin();
        byte* p = (byte*)handle.Pointer;
        Gc();
        Check(*p);
        """);

    [Fact]
    public Task Pointer_OfPinHandleThatKeepsOwner_OnlyLeak() => Snippet.Body(
        """
        var owner = {|ALLOC004:A.Allocate<byte>(64)|};
        using MemoryHandle handle = owner.Memory.Pin();
        byte* p = (byte*)handle.Pointer;
        Gc();
        Check(*p);
        """);

    [Fact]
    public Task Pointer_OfFixedInUsing_Silent() => Snippet.Body(
        """
        using var owner = A.Allocate<byte>(64);
        fixed (byte* p = owner.Memory.Span)
        {
            Gc();
            Check(*p);
        }
        """);

    [Fact]
    public Task Span_EachBranchDisposes_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        if (Yes)
        {
            Gc();
            Check(s[0]);
            owner.Dispose();
        }
        else
        {
            s[0] = 1;
            owner.Dispose();
        }
        """);

    [Fact]
    public Task Span_OwnerOfSwitchExpression_Silent() => Snippet.Body(
        """
        IMemoryOwner<byte> owner = Number switch { 0 => A.Allocate<byte>(64), _ => A.Allocate<byte>(32) };
        try
        {
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
        }
        finally
        {
            owner?.Dispose();
        }
        """);

    [Fact]
    public Task Span_AcrossGoto_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        int i = 0;
        again:
        Gc();
        Check(s[0]);
        if (++i < 2)
        {
            goto again;
        }

        owner.Dispose();
        """);

    [Fact]
    public Task Span_UsingOverAlias_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        using var guard = owner;
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        """);

    [Fact]
    public Task Span_OwnerReadLater_OnlyLeak() => Snippet.Body(
        """
        var owner = {|ALLOC004:A.Allocate<byte>(64)|};
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        Number = owner.Memory.Length;
        """);

    [Fact]
    public Task Span_DisposedAsIDisposable_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        IDisposable disposable = owner;
        try
        {
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
        }
        finally
        {
            disposable.Dispose();
        }
        """);

    [Fact]
    public Task Span_OwnerOfCoalesceAssignment_Silent() => Snippet.Body(
        """
        IMemoryOwner<byte>? owner = null;
        owner ??= A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        owner.Dispose();
        """);

    [Fact]
    public Task Span_UsedInSameStatementBeforeOwner_OnlyLeak() => Snippet.Body(
        """
        var owner = {|ALLOC004:A.Allocate<byte>(64)|};
        Span<byte> s = owner.Memory.Span;
        Number = s[0] + owner.Memory.Length;
        """);

    [Fact]
    public Task Span_FreshInSameStatementBeforeOwner_OnlyLeak() => Snippet.Body(
        """
        var owner = {|ALLOC004:A.Allocate<byte>(64)|};
        Number = owner.Memory.Span[0] + owner.Memory.Length;
        """);

    // Its owners have no finalizer: the array lives as long as the span.
    [Fact]
    public Task Span_OfBaseLibraryPool_Silent() => Snippet.Body(
        """
        var owner = MemoryPool<byte>.Shared.Rent(64);
        Span<byte> s = owner.Memory.Span;
        s.Clear();
        Gc();
        Check(s[0]);
        """);
}
