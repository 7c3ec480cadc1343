namespace Allocator.Analyzers.Tests.Finalizable;

public sealed class ReferenceTests
{
    [Fact]
    public Task RefLocal_OwnerNotUsedAfterwards_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        ref byte r = ref owner.Memory.Span[0];
        Gc();
        Check({|ALLOC001:r|});
        """);

    [Fact]
    public Task RefLocal_Written_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        ref byte r = ref owner.Memory.Span[0];
        Gc();
        {|ALLOC001:r|} = 1;
        """);

    [Fact]
    public Task Pointer_OfFixed_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        fixed (byte* p = owner.Memory.Span)
        {
            Gc();
            Check({|ALLOC001:*p|});
        }
        """);

    [Fact]
    public Task Pointer_OfFixedIndexed_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        fixed (byte* p = owner.Memory.Span)
        {
            Gc();
            Check({|ALLOC001:p[1]|});
        }
        """);

    [Fact]
    public Task Pointer_OfReference_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        byte* p = (byte*)Unsafe.AsPointer(ref owner.Memory.Span[0]);
        Gc();
        Check({|ALLOC001:p[3]|});
        """);

    [Fact]
    public Task Reference_OfMemoryMarshal_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        ref byte r = ref MemoryMarshal.GetReference(owner.Memory.Span);
        Gc();
        Check({|ALLOC001:Unsafe.Add(ref r, 1)|});
        """);
}
