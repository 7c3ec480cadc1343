namespace Allocator.Tests;

public unsafe class WrappedMemoryTests
{
    private const int Width = 5;
    private const int Height = 4;
    private const int Stride = 8;
    private const int Length = (Height - 1) * Stride + Width;

    public static TheoryData<bool> Kinds => new() { false, true };

    [Theory]
    [MemberData(nameof(Kinds))]
    public void WrapPixels_RowsWithGaps_AreTheCallersMemory(bool isNative)
    {
        using Memory memory = new(isNative);
        using TestSetup setup = new();
        using PixelBuffer<int> buffer = memory.Wrap(setup.Allocator);

        Assert.Equal((Width, Height, Stride, true), (buffer.Width, buffer.Height, buffer.RowStride, buffer.IsContiguous));
        buffer.ProcessPixelRows(static rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                rows.GetRowSpan(y).Fill(y + 1);
            }
        });
        Assert.Equal(4, buffer.DangerousGetRowSpan(3)[4]);
        Assert.Equal(
            Enumerable.Range(0, Length).Select(i => i % Stride < Width ? i / Stride + 1 : -1), memory.Span.Slice(0, Length).ToArray());

        buffer.Clear();
        Assert.Equal(Enumerable.Range(0, Length).Select(i => i % Stride < Width ? 0 : -1), memory.Span.Slice(0, Length).ToArray());
        Assert.Equal(-1, memory.Span[Length]);
        Assert.Equal((0L, 0L), (setup.Statistics.OutstandingAllocations, setup.Statistics.Rents));
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Dispose_OfTheWrapper_ReleasesOnceAndRefusesFurtherUse(bool isNative)
    {
        using Memory memory = new(isNative);
        using TestSetup setup = new();
        int released = 0;
        PixelBuffer<int> buffer = memory.Wrap(setup.Allocator, () => released++);
        Assert.True(buffer.DangerousTryGetSingleMemory(out Memory<int> single));
        Assert.Equal(Length, single.Length);

        buffer.ProcessPixelRows(_ =>
        {
            buffer.Dispose();
            Assert.Equal(0, released);
        });

        Assert.Equal(1, released);
        buffer.Dispose();
        Assert.Equal(1, released);
        Assert.Throws<ObjectDisposedException>(() => buffer.Clear());
        Assert.Throws<ObjectDisposedException>(() => single.Span[0]);
        Assert.Throws<ObjectDisposedException>(() => single.Pin());
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Pin_PastDispose_HoldsBackTheRelease(bool isNative)
    {
        using Memory memory = new(isNative);
        using TestSetup setup = new();
        int released = 0;
        PixelBuffer<int> buffer = memory.Wrap(setup.Allocator, () => released++);
        Assert.True(buffer.DangerousTryGetSingleMemory(out Memory<int> single));
        MemoryHandle pin = single.Slice(Stride + 1).Pin();
        buffer.Dispose();
        GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);

        *(int*)pin.Pointer = 77;
        Assert.Equal(77, memory.Span[Stride + 1]);
        Assert.Equal(0, released);
        pin.Dispose();
        pin.Dispose();
        Assert.Equal(1, released);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void HandOff_OfAWrapper_GivesTheCallersMemoryAndReleasesIt(bool isNative)
    {
        using Memory memory = new(isNative);
        using TestSetup setup = new();
        int released = 0;
        NativePixels pixels = memory.Wrap(setup.Allocator, () => released++).HandOff();
        Assert.Equal((Stride * sizeof(int), (long)Length * sizeof(int)), (pixels.RowBytes, pixels.LengthInBytes));
        ((int*)pixels.Pointer)[Stride] = 5;
        Assert.Equal(5, memory.Span[Stride]);
        pixels.Dispose();
        pixels.Dispose();
        Assert.Equal(1, released);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Clone_OfAWrapper_IsAllocatedAndPacked(bool isNative)
    {
        using Memory memory = new(isNative);
        using TestSetup setup = new();
        using PixelBuffer<int> buffer = memory.Wrap(setup.Allocator);
        buffer.DangerousGetRowSpan(2)[3] = 9;
        using PixelBuffer<int> clone = buffer.Clone();
        Assert.Equal((Width, 9), (clone.RowStride, clone.DangerousGetRowSpan(2)[3]));
        Assert.Equal(1, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void WrapPixels_MemoryOfAnotherOwner_DisposesItAtTheEnd()
    {
        using TestSetup setup = new();
        IMemoryOwner<int> owner = setup.Allocator.Allocate<int>(100);
        using (PixelBuffer<int> buffer = setup.Allocator.WrapPixels(owner.Memory, 10, 10, 10, owner.Dispose))
        {
            Assert.True(buffer.TryProcessSinglePixelSpan(static pixels => pixels.Fill(3)));
            Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept(3));
        }

        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void Unpin_OfTheCallersMemoryThrows_ReleasesAllTheSame()
    {
        using TestSetup setup = new();
        int released = 0;
        using PinTap memory = new() { Unpinning = static () => throw new NotSupportedException() };
        MemoryGroup<byte> group = setup.Allocator.WrapGroup(memory.Memory, () => released++);
        MemoryHandle pin = group[0].Pin();
        group.Dispose();
        Assert.Equal(0, released);
        Assert.Throws<NotSupportedException>(() => pin.Dispose());
        Assert.Equal(1, released);
    }

    [Fact]
    public void WrapPixels_RowsBeyondTheMemory_AreRefusedAndNothingIsReleased()
    {
        using TestSetup setup = new();
        MemoryAllocator allocator = setup.Allocator;
        int released = 0;
        Memory<int> memory = new int[Length];
        void Release() => released++;
        Assert.Throws<ArgumentOutOfRangeException>(() => allocator.WrapPixels(memory, 0, 1, 1, Release));
        Assert.Throws<ArgumentOutOfRangeException>(() => allocator.WrapPixels(memory, 1, 0, 1, Release));
        Assert.Throws<ArgumentOutOfRangeException>(() => allocator.WrapPixels(memory, 5, 1, 4, Release));
        Assert.Throws<ArgumentOutOfRangeException>(() => allocator.WrapPixels(memory, 1, 1, -4, Release));
        Assert.Throws<ArgumentException>(() => allocator.WrapPixels(memory, Width + 1, Height, Stride, Release));
        Assert.Throws<ArgumentException>(() => allocator.WrapPixels(memory, 1, int.MaxValue, int.MaxValue, Release));
        Assert.Throws<ArgumentNullException>(() => allocator.WrapPixels<int>(0, 1, 1, 4, Release));
        Assert.Throws<ArgumentOutOfRangeException>(() => allocator.WrapPixels<int>(64, 2, 1, -4, Release));
        Assert.Throws<ArgumentOutOfRangeException>(() => allocator.WrapPixels<int>(64, 1, 2, int.MinValue, Release));
        Assert.Throws<ArgumentOutOfRangeException>(() => allocator.WrapPixels(memory, 1, 1, int.MaxValue, Release));
        Assert.Throws<ArgumentException>(() => allocator.WrapPixels<int>(new byte[11], 1, 2, -8, Release));
        Assert.Throws<ArgumentOutOfRangeException>(() => allocator.WrapPixels<int>(64, 2, 1, 4, Release));
        Assert.Throws<ArgumentException>(() => allocator.WrapGroup(new ArraySegment<byte>[1].AsMemory()));
        Assert.Equal(0, released);
    }

    [Fact]
    public void WrapGroup_AnyMemory_IsOneMemberOfIt()
    {
        using TestSetup setup = new();
        int released = 0;
        int[] array = [1, 2, 3, 4];
        MemoryGroup<int> group = setup.Allocator.WrapGroup(array.AsMemory(1, 2), () => released++);
        Assert.Equal((2L, 1, 2), (group.TotalLength, group.Count, group.BlockLength));
        Assert.Equal([2, 3], group[0].ToArray());
        group.Fill(7);
        using MemoryGroup<int> other = setup.Allocator.AllocateGroup<int>(2);
        group.CopyTo(other);
        Assert.Equal([7, 7], other[0].ToArray());
        Assert.Equal([1, 7, 7, 4], array);
        group.Dispose();
        Assert.Equal(1, released);
        Assert.Throws<ObjectDisposedException>(() => group[0]);

        using MemoryGroup<int> empty = setup.Allocator.WrapGroup(Memory<int>.Empty);
        Assert.Equal(0, empty[0].Span.Length);
        empty.Clear();
    }

    [Fact]
    public void Wrapper_DroppedWithoutDispose_CallsNothingAndKeepsNothing()
    {
        RemoteExecutor.Invoke(static () =>
        {
            int released = 0;
            (WeakReference array, WeakReference buffer) = Drop(() => released++);
            GC.Collect(2, GCCollectionMode.Forced, blocking: true);
            GC.WaitForPendingFinalizers();
            GC.Collect(2, GCCollectionMode.Forced, blocking: true);
            Assert.False(array.IsAlive || buffer.IsAlive);
            Assert.Equal(0, released);
        }).Dispose();

        [MethodImpl(MethodImplOptions.NoInlining)]
        static (WeakReference Array, WeakReference Buffer) Drop(Action release)
        {
            int[] array = new int[100];
            PixelBuffer<int> buffer = MemoryAllocator.Default.WrapPixels(array.AsMemory(), 10, 10, 10, release);
            buffer.Clear();
            return (new WeakReference(array), new WeakReference(buffer));
        }
    }

    // More than a span can hold: found by address alone, nothing is touched.
    [SkippableFact]
    public void WrapPixels_LongerThanASpan_FindsItsRows()
    {
        Skip.IfNot(Environment.Is64BitProcess, "There are no such addresses.");
        using TestSetup setup = new();
        long address = 0x10_0000_0000;
        using PixelBuffer<byte> buffer = setup.Allocator.WrapPixels<byte>((nint)address, 1_000_000, 5000, 1_000_000);
        Assert.True(buffer.IsContiguous);
        fixed (byte* row = buffer.DangerousGetRowSpan(4321))
        {
            Assert.Equal(address + 4_321_000_000, (long)row);
        }
    }

    /// <summary>A caller's memory, all -1.</summary>
    private sealed class Memory : IDisposable
    {
        private readonly int[] _array = new int[Length + 1];
        private readonly nint _address;

        public Memory(bool isNative)
        {
            _address = isNative ? Marshal.AllocHGlobal((Length + 1) * sizeof(int)) : 0;
            Span.Fill(-1);
        }

        public Span<int> Span => _address == 0 ? _array : new Span<int>((void*)_address, Length + 1);

        public PixelBuffer<int> Wrap(MemoryAllocator allocator, Action? release = null) => _address == 0
            ? allocator.WrapPixels(_array.AsMemory(), Width, Height, Stride, release)
            : allocator.WrapPixels<int>(_address, Width, Height, Stride * sizeof(int), release);

        public void Dispose() => Marshal.FreeHGlobal(_address);
    }
}
