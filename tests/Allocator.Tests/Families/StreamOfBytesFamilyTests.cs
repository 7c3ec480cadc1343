namespace Allocator.Tests.Families;

/// <summary>
/// What <see cref="MemoryStream"/> has beyond <see cref="Stream"/>: its content as an array, a segment or in another stream.
/// </summary>
public class StreamOfBytesFamilyTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(100)]
    [InlineData(TestSetup.BlockSize)]
    [InlineData(3 * TestSetup.BlockSize + 11)]
    public void Content_WhateverThePosition_IsThatOfAMemoryStream(int length)
    {
        using TestSetup setup = new();
        using MemoryStream model = new();
        using PooledMemoryStream grown = setup.Allocator.CreateStream();
        using PooledMemoryStream overAGroup = setup.Allocator.AllocateGroup<byte>(length).AsStream();
        model.Write(StreamDemands.Bytes(length));
        foreach (PooledMemoryStream ours in (PooledMemoryStream[])[grown, overAGroup])
        {
            ours.Write(StreamDemands.Bytes(length));
            foreach (int position in (int[])[0, length / 2, length, length + 50])
            {
                ours.Position = position;
                using MemoryStream written = new();
                ours.WriteTo(written);
                Assert.Equal(model.ToArray(), ours.ToArray());
                Assert.Equal(model.ToArray(), written.ToArray());
                Assert.Equal(position, ours.Position);
                if (ours.TryGetBuffer(out ArraySegment<byte> buffer))
                {
                    Assert.Equal(model.ToArray(), buffer.ToArray());
                }
            }
        }
    }

    [Fact]
    public void ToArray_WrittenToAfterwards_IsACopy()
    {
        using TestSetup setup = new();
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.WriteByte(1);
        byte[] copy = stream.ToArray();
        stream.Position = 0;
        stream.WriteByte(2);
        Assert.Equal([1], copy);
        Assert.NotSame(copy, stream.ToArray());
    }

    [SkippableFact]
    public void ToArray_LongerThanAnArray_IsRefusedBeforeItIsMade()
    {
        Skip.IfNot(Environment.Is64BitProcess, "There is no room for it.");
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using PooledMemoryStream stream = allocator.CreateStream();
        stream.SetLength(0x7FFFFFC8L);
        IOException e = Assert.Throws<IOException>(stream.ToArray);
        Assert.Contains("2,147,483,592", e.Message, StringComparison.Ordinal);
        Assert.False(stream.TryGetBuffer(out _));
    }

    [Theory]
    [InlineData(0, 0, true)]
    [InlineData(500, 1000, true)]
    [InlineData(1000, 1000, true)]
    [InlineData(1001, 0, false)]
    [InlineData(40_000, 40_000, false)]
    public void TryGetBuffer_ContentInOneArrayOrNot_SaysSo(int length, int capacity, bool expected)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using TestSetup setup = new();

        // 4 KB is above the arrays of the test's allocator.
        using PooledMemoryStream stream = length <= 1000 ? allocator.CreateStream(capacity) : setup.Allocator.CreateStream(capacity);
        stream.Write(StreamDemands.Bytes(length));
        Assert.Equal(expected, stream.TryGetBuffer(out ArraySegment<byte> buffer));
        Assert.Equal(expected ? length : 0, buffer.Count);
        if (expected && length > 0)
        {
            buffer.AsSpan()[0] = 99;
            Assert.Equal(99, stream.ToArray()[0]);
            stream.Position = length - 1;
            stream.WriteByte(77);
            Assert.Equal(77, buffer.AsSpan()[length - 1]);
        }
    }

    [Fact]
    public void TryGetBuffer_OverAGroupInAnArray_IsThatArray()
    {
        using TestSetup setup = new();
        byte[] bytes = StreamDemands.Bytes(900);
        using PooledMemoryStream rented = setup.Allocator.AllocateGroup<byte>(900).AsStream();
        using PooledMemoryStream wrapped = setup.Allocator.WrapGroup(bytes.AsMemory(100)).AsStream();
        rented.SetLength(30);
        Assert.True(rented.TryGetBuffer(out ArraySegment<byte> buffer));
        Assert.Equal(30, buffer.Count);
        Assert.True(wrapped.TryGetBuffer(out buffer));
        Assert.Same(bytes, buffer.Array);
        Assert.Equal((100, 800), (buffer.Offset, buffer.Count));
    }

    [Fact]
    public void WriteTo_AStreamThatCannot_ThrowsAsCopyToDoes()
    {
        using TestSetup setup = new();
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.WriteByte(1);
        Assert.Throws<ArgumentNullException>("destination", () => stream.WriteTo(null!));
        Assert.Throws<NotSupportedException>(() => stream.WriteTo(StreamDemands.ReadOnly()));
        Assert.Throws<ObjectDisposedException>(() => stream.WriteTo(StreamDemands.Closed()));
        stream.Dispose();
        Assert.Throws<ArgumentNullException>("destination", () => stream.WriteTo(null!));
        Assert.Throws<ObjectDisposedException>(() => stream.WriteTo(Stream.Null));
        Assert.Throws<ObjectDisposedException>(() => stream.ToArray());
        Assert.Throws<ObjectDisposedException>(() => stream.TryGetBuffer(out _));
    }

    [Fact]
    public void WriteTo_Itself_AppendsItsContent()
    {
        using TestSetup setup = new();
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        byte[] content = StreamDemands.Bytes(3 * TestSetup.BlockSize);
        stream.Write(content);
        stream.WriteTo(stream);
        Assert.Equal([.. content, .. content], stream.ToArray());
    }
}
