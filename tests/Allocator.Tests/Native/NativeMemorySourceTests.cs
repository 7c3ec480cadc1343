namespace Allocator.Tests.Native;

/// <summary>One contract for all four kinds.</summary>
public class NativeMemorySourceTests
{
    public static TheoryData<NativeMemoryKind> Kinds =>
        [NativeMemoryKind.Virtual, NativeMemoryKind.Heap, NativeMemoryKind.HGlobal, NativeMemoryKind.CoTaskMem];

    [Theory]
    [MemberData(nameof(Kinds))]
    public unsafe void TryAllocate_AnyLengthAndAlignment_GivesAlignedMemoryThatCanBeWritten(NativeMemoryKind kind)
    {
        NativeMemorySource source = NativeMemorySource.Create(kind, HugePages.Auto);
        List<(nint Address, long Length, byte Pattern)> all = [];
        byte pattern = 0;
        foreach (long requested in (long[])[1, 63, 4096, 100_000, 1 << 20, (5 << 20) + 1])
        {
            for (int alignment = NativeMemorySource.MinimumAlignment; alignment <= NativeMemorySource.MaximumAlignment; alignment *= 8)
            {
                long length = source.RoundUp(requested);
                nint address = source.TryAllocate(length, alignment, out bool zeroed);
                Assert.NotEqual(0, address);
                Assert.Equal(0, address % alignment);
                Span<byte> memory = new((void*)address, (int)length);
                if (zeroed)
                {
                    Assert.Equal(-1, memory.IndexOfAnyExcept((byte)0));
                }

                memory.Fill(++pattern);
                all.Add((address, length, pattern));
            }
        }

        foreach ((nint address, long length, byte filled) in all)
        {
            Assert.Equal(-1, new Span<byte>((void*)address, (int)length).IndexOfAnyExcept(filled));
            source.Free(address, length);
        }
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void TryAllocate_MoreThanThereIs_IsRefusedNotThrown(NativeMemoryKind kind)
    {
        NativeMemorySource source = NativeMemorySource.Create(kind, HugePages.Auto);
        Assert.Equal(0, source.TryAllocate(1L << 52, 4096, out _));
    }

    [Theory]
    [InlineData(4, 1L << 30, true)]
    [InlineData(4, int.MaxValue, false)]
    [InlineData(4, (4L << 30) + 72, false)]
    [InlineData(8, 1L << 46, true)]
    [InlineData(8, long.MaxValue, false)]
    public void LargestLength_ByPointerSize_LeavesOutWhatWouldWrap(int pointerSize, long length, bool isAddressable) =>
        Assert.Equal(isAddressable, length <= NativeMemorySource.LargestLength(pointerSize));

    [Theory]
    [MemberData(nameof(Kinds))]
    public void RoundUp_AnyLength_IsEnoughAndAFixpoint(NativeMemoryKind kind)
    {
        NativeMemorySource source = NativeMemorySource.Create(kind, HugePages.Auto);
        foreach (long length in (long[])[1, 4095, 4096, 4097, 1 << 20])
        {
            Assert.InRange(source.RoundUp(length), length, length + 65536);
            Assert.Equal(source.RoundUp(length), source.RoundUp(source.RoundUp(length)));
        }
    }
}
