using CsCheck;

namespace Allocator.Tests;

/// <summary>Copies between views of one memory: what arrives is what was there before, in any direction.</summary>
public class OverlapTests
{
    private const int Length = 4096;

    // Strides, signs and places by chance: the same stride, another, the other way round, in arrays and in native memory.
    [Fact]
    public unsafe void CopyTo_TwoViewsOfOneMemory_IsRightInAnyDirection() =>
        Gen.Select(Gen.Int[1, 9], Gen.Int[1, 9], Gen.Int[0, 3], Gen.Int[0, 3], Gen.Int[0, 300], Gen.Int[0, 300], Gen.Int[0, 7]).Sample(
            static (width, height, padding, otherPadding, at, otherAt, kind) =>
            {
                using TestSetup setup = new();
                using IMemoryOwner<byte> memory = setup.Allocator.Allocate<byte>(Length);
                using MemoryHandle pin = memory.Memory.Pin();
                byte[] array = new byte[Length];
                bool isArray = (kind & 4) != 0;
                using PixelBuffer<Pixel3> source = Wrap(at, padding, (kind & 1) != 0);
                using PixelBuffer<Pixel3> target = Wrap(otherAt, otherPadding, (kind & 2) != 0);
                Span<byte> bytes = isArray ? array : memory.Memory.Span;
                new Random(at).NextBytes(bytes);
                Pixel3[] expected = new Pixel3[width * height];
                source.CopyTo(expected, width);
                byte[] before = bytes.ToArray();

                source.CopyTo(target);

                Pixel3[] copied = new Pixel3[width * height];
                target.CopyTo(copied, width);
                Assert.True(MemoryMarshal.AsBytes(copied.AsSpan()).SequenceEqual(MemoryMarshal.AsBytes(expected.AsSpan())));

                // Nothing else has changed.
                target.CopyFrom(new Pixel3[width * height], width);
                byte[] after = bytes.ToArray();
                before.CopyTo(bytes);
                target.CopyFrom(new Pixel3[width * height], width);
                Assert.Equal(bytes.ToArray(), after);

                PixelBuffer<Pixel3> Wrap(int start, int gap, bool isBottomUp)
                {
                    int stride = (width * 3 + gap) * (isBottomUp ? -1 : 1);
                    int length = (height - 1) * Math.Abs(stride) + width * 3;
                    int first = isBottomUp ? start + (height - 1) * -stride : start;
                    return isArray
                        ? setup.Allocator.WrapPixels<Pixel3>(array.AsMemory(start, length), width, height, stride)
                        : setup.Allocator.WrapPixels<Pixel3>((nint)pin.Pointer + first, width, height, stride);
                }
            },
            iter: 2000);

    // Of one block and of many, side by side and scattered, and of the planes of one buffer.
    [Fact]
    public void CopyTo_TwoCropsOfOneBuffer_IsRightInAnyDirection() =>
        Gen.Select(Gen.Int[1, 300], Gen.Int[1, 200], Gen.Int[0, 3], Gen.Int[0, int.MaxValue]).Sample(
            static (width, height, kind, seed) =>
            {
                Random random = new(seed);
                using TestSetup setup = new(maximumBlocks: 64);
                IMemoryOwner<byte>[] blocks =
                    [.. Enumerable.Range(0, kind == 1 ? 40 : 0).Select(_ => setup.Allocator.Allocate<byte>(TestSetup.BlockSize))];
                for (int i = 0; i < blocks.Length; i++)
                {
                    blocks[i * 7 % 40 / 2 * 2].Dispose();
                }

                using PlanarBuffer? planes = kind == 2 ? setup.Allocator.AllocatePlanar(PlanarFormat.Of<int>(3), width, height) : null;
                using PixelBuffer<int> pixels = planes?.GetPlane<int>(1).Crop(0, 0, width, height)
                    ?? setup.Allocator.AllocatePixels<int>(
                        width, height, kind == 3 ? AllocationOptions.Contiguous : AllocationOptions.None, 1 << random.Next(7));
                int[] model = [.. Enumerable.Range(0, width * height)];
                pixels.CopyFrom(model, width);
                int w = 1 + random.Next(width);
                int h = 1 + random.Next(height);
                (int x, int y) = (random.Next(width - w + 1), random.Next(height - h + 1));
                (int toX, int toY) = (random.Next(width - w + 1), random.Next(height - h + 1));
                using (PixelBuffer<int> source = pixels.Crop(x, y, w, h))
                using (PixelBuffer<int> target = pixels.Crop(toX, toY, w, h))
                {
                    source.CopyTo(target);
                }

                for (int row = 0; row < h; row++)
                {
                    for (int column = 0; column < w; column++)
                    {
                        model[(toY + row) * width + toX + column] = (y + row) * width + x + column;
                    }
                }

                int[] copy = new int[model.Length];
                pixels.CopyTo(copy, width);
                Assert.True(model.AsSpan().SequenceEqual(copy), $"{pixels}: {w} x {h} from ({x}, {y}) to ({toX}, {toY})");
                Array.ForEach(blocks, static block => block.Dispose());
            },
            iter: 500);

    [Theory]
    [InlineData(0, 3)]
    [InlineData(3, 0)]
    public void CopyFromAndCopyTo_SpansOfTheBufferItself_AreRight(int from, int to)
    {
        using TestSetup setup = new();
        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(10, 20);
        using PixelBuffer<int> rows = setup.Allocator.WrapPixels(Single(pixels).Slice(to * 10), 10, 17, 10);
        Number(pixels);
        rows.CopyFrom(Single(pixels).Slice(from * 10).Span, 10);
        AssertMoved(pixels, from, to);

        using PixelBuffer<int> read = setup.Allocator.WrapPixels(Single(pixels).Slice(from * 10), 10, 17, 10);
        Number(pixels);
        read.CopyTo(Single(pixels).Slice(to * 10).Span, 10);
        AssertMoved(pixels, from, to);
    }

    // Members of 16 KiB: the memory of the other group lies within them, some bytes further.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task StreamCopyTo_StreamOverTheSameGroup_IsRightInAnyDirection(bool forwards)
    {
        using TestSetup setup = new(maximumBlocks: 32);
        using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(5 * TestSetup.BlockSize);
        Assert.True(group.Count > 1);
        byte[] content = new byte[group.TotalLength];
        new Random(1).NextBytes(content);
        foreach (bool isAsync in (bool[])[false, true])
        {
            group.CopyFrom(content);
            using PooledMemoryStream from = group.AsStream(leaveOpen: true);
            using PooledMemoryStream to = group.AsStream(leaveOpen: true);
            (from.Position, to.Position) = forwards ? (0, 1000) : (1000, 0);
            from.SetLength(content.Length - 1000 + from.Position);
            int length = (int)(from.Length - from.Position);
            byte[] expected = [.. content];
            content.AsSpan((int)from.Position, length).CopyTo(expected.AsSpan((int)to.Position));
            if (isAsync)
            {
                await from.CopyToAsync(to);
            }
            else
            {
                from.CopyTo(to);
            }

            byte[] after = new byte[content.Length];
            group.CopyTo(after);
            Assert.True(after.AsSpan().SequenceEqual(expected));
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(3)]
    public void StreamReadAndWrite_OfItsOwnBlock_AreRight(int block)
    {
        using TestSetup setup = new(maximumBlocks: 32);
        using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(4 * TestSetup.BlockSize);
        byte[] content = new byte[group.TotalLength];
        new Random(block).NextBytes(content);
        using PooledMemoryStream stream = group.AsStream(leaveOpen: true);
        foreach (int position in (int[])[TestSetup.BlockSize / 2, TestSetup.BlockSize, (int)(2.5 * TestSetup.BlockSize)])
        {
            int length = Math.Min(TestSetup.BlockSize, content.Length - position);
            int at = block * TestSetup.BlockSize;
            group.CopyFrom(content);
            stream.Position = position;
            Assert.Equal(length, stream.Read(group[block].Span.Slice(0, length)));
            Assert.True(group[block].Span.Slice(0, length).SequenceEqual(content.AsSpan(position, length)), $"read at {position}");

            group.CopyFrom(content);
            stream.Position = position;
            stream.Write(group[block].Span.Slice(0, length));
            byte[] written = new byte[content.Length];
            group.CopyTo(written);
            Assert.True(written.AsSpan(position, length).SequenceEqual(content.AsSpan(at, length)), $"written at {position}");
        }
    }

    // A group over one block of another: the other has more than one, and both directions occur.
    [Fact]
    public void GroupCopy_SpanWithinTheGroup_IsRight()
    {
        using TestSetup setup = new(maximumBlocks: 32);
        using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(3 * TestSetup.BlockSize);
        byte[] content = new byte[group.TotalLength];
        new Random(1).NextBytes(content);
        group.CopyFrom(content);
        group.CopyFrom(group[2].Span);
        Assert.True(group[0].Span.SequenceEqual(content.AsSpan(2 * TestSetup.BlockSize)));
        group.CopyFrom(content);
        group.CopyFrom(group[0].Span.Slice(100));
        Assert.True(group[0].Span.Slice(0, TestSetup.BlockSize - 100).SequenceEqual(content.AsSpan(100, TestSetup.BlockSize - 100)));
    }

    private static Memory<int> Single(PixelBuffer<int> pixels)
    {
        Assert.True(pixels.DangerousTryGetSingleMemory(out Memory<int> memory));
        return memory;
    }

    private static void Number(PixelBuffer<int> pixels)
    {
        Span<int> all = Single(pixels).Span;
        for (int i = 0; i < all.Length; i++)
        {
            all[i] = i;
        }
    }

    private static void AssertMoved(PixelBuffer<int> pixels, int from, int to) =>
        Assert.Equal(Enumerable.Range(from * 10, 170), Single(pixels).Span.Slice(to * 10, 170).ToArray());
}
