namespace Allocator.Tests.Families;

/// <summary><see cref="PooledMemoryStream"/> as an <see cref="ArrayBufferWriter{T}"/> of bytes.</summary>
public class BufferWriterFamilyTests
{
    // Each is made on a writer of its own; what was written is compared with it.
    private static readonly Dictionary<string, Func<IBufferWriter<byte>, object?>> s_demands = new()
    {
        ["GetSpan, no hint"] = static w => w.GetSpan().Length > 0,
        ["GetSpan, 0"] = static w => w.GetSpan(0).Length > 0,
        ["GetSpan, 1"] = static w => w.GetSpan(1).Length >= 1,
        ["GetSpan, 1,000"] = static w => w.GetSpan(1000).Length >= 1000,
        ["GetSpan, 100,000"] = static w => w.GetSpan(100_000).Length >= 100_000,
        ["GetSpan, twice"] = static w => (w.GetSpan(10).Length >= 10, w.GetSpan(2000).Length >= 2000, w.GetSpan(3).Length >= 3),
        ["GetSpan, negative"] = static w => w.GetSpan(-1).Length,
        ["GetSpan, least"] = static w => w.GetSpan(int.MinValue).Length,
        ["GetMemory, no hint"] = static w => w.GetMemory().Length > 0,
        ["GetMemory, 0"] = static w => w.GetMemory(0).Length > 0,
        ["GetMemory, 1"] = static w => w.GetMemory(1).Length >= 1,
        ["GetMemory, 1,000"] = static w => w.GetMemory(1000).Length >= 1000,
        ["GetMemory, 100,000"] = static w => w.GetMemory(100_000).Length >= 100_000,
        ["GetMemory, negative"] = static w => w.GetMemory(-1).Length,
        ["Advance, 0"] = static w => Call(() => w.Advance(0)),
        ["Advance, 0 of what was given"] = static w => { w.GetSpan(5); w.Advance(0); return null; },
        ["Advance, negative"] = static w => Call(() => w.Advance(-1)),
        ["Advance, least"] = static w => Call(() => w.Advance(int.MinValue)),
        ["Advance, negative after all"] = static w => { w.GetSpan(5); w.Advance(5); w.Advance(-1); return null; },
        ["Advance, all that was given"] = static w => { Fill(w, w.GetMemory(40).Slice(0, 40)); w.Advance(40); return null; },
        ["Advance, a part"] = static w => { Fill(w, w.GetMemory(40)); w.Advance(13); return null; },
        ["Advance, more than was given"] = static w => { int given = w.GetSpan(40).Length; w.Advance(given + 1); return null; },
        ["Advance, most"] = static w => { w.GetSpan(40); w.Advance(int.MaxValue); return null; },
        ["Advance, in two steps"] = static w => { Fill(w, w.GetMemory(40)); w.Advance(13); w.Advance(27); return null; },
        ["Advance, byte by byte"] = static w => { Fill(w, w.GetMemory(300)); return Times(300, () => w.Advance(1)); },
        ["Advance, by steps of a large span"] = static w => { Fill(w, w.GetMemory(50_000)); return Times(50, () => w.Advance(1000)); },
        ["Advance, steps beyond what was given"] = static w =>
        {
            Memory<byte> given = w.GetMemory(40);
            Fill(w, given);
            w.Advance(20);
            w.Advance(given.Length - 19);
            return null;
        },
        ["Advance, refused, then less"] = static w =>
        {
            Memory<byte> given = w.GetMemory(40);
            Fill(w, given);
            string refused = Outcome.Of(() => Call(() => w.Advance(given.Length + 1)));
            w.Advance(20);
            return refused;
        },
        ["Advance, the older of two spans"] = static w =>
        {
            Fill(w, w.GetMemory(40));
            Fill(w, w.GetMemory(40));
            w.Advance(40);
            return null;
        },
        ["Write, extension"] = static w => Call(() => w.Write(StreamDemands.Bytes(60_000))),
        ["Write, many"] = static w => Times(300, () => w.Write(StreamDemands.Bytes(333))),
        ["Write, nothing"] = static w => Call(() => w.Write<byte>([])),
    };

    public static TheoryData<string> Demands => [.. s_demands.Keys];

    [Theory]
    [MemberData(nameof(Demands))]
    public void EachRequirement_ComparedWithArrayBufferWriter_IsMet(string demand)
    {
        foreach (int before in (int[])[0, 1, 100, TestSetup.BlockSize - 7, TestSetup.BlockSize, 3 * TestSetup.BlockSize - 1])
        {
            using TestSetup setup = new(maximumBlocks: 64);
            using PooledMemoryStream ours = setup.Allocator.CreateStream();

            // As much as it has is an amount that both have none of left.
            ArrayBufferWriter<byte> model = new(Math.Max(1, before));
            ours.Write(StreamDemands.Bytes(before));
            model.Write(StreamDemands.Bytes(before));

            string expected = Without(Outcome.Of(() => s_demands[demand](model)));
            string actual = Without(Outcome.Of(() => s_demands[demand](ours)));

            Assert.True(expected == actual, $"after {before}: {actual} in place of {expected}");
            Assert.True(model.WrittenSpan.SequenceEqual(ours.ToArray()), $"after {before}: {ours.Length} bytes, or others");
            Assert.Equal(ours.Length, ours.Position);
            ours.Dispose();
            Assert.Equal(0, setup.Statistics.OutstandingAllocations);
        }
    }

    // At a block's end as much again was rented for the blocks that a copy would have needed.
    [Theory]
    [InlineData(0, 5)]
    [InlineData(1, 5)]
    [InlineData(1, 1)]
    public void GetSpan_LargerThanWhatIsLeft_RentsOnceAndAdvanceCopiesNothing(int before, int blocks)
    {
        using TestSetup setup = new(maximumBlocks: 32);
        using PooledMemoryStream stream = setup.Allocator.CreateStream(TestSetup.BlockSize);
        stream.Write(new byte[before == 0 ? TestSetup.BlockSize : TestSetup.BlockSize - 1]);
        long rents = setup.Statistics.Rents;
        long bytes = setup.Statistics.RentedBytes;
        ref byte given = ref stream.GetSpan(blocks * TestSetup.BlockSize)[0];
        given = 42;
        Assert.Equal((rents + 1, bytes + blocks * TestSetup.BlockSize), (setup.Statistics.Rents, setup.Statistics.RentedBytes));

        long position = stream.Position;
        stream.Advance(blocks * TestSetup.BlockSize);

        Assert.Equal((rents + 1, bytes + blocks * TestSetup.BlockSize), (setup.Statistics.Rents, setup.Statistics.RentedBytes));
        ReadOnlySpan<byte> there = stream.AsReadOnlySequence().Slice(position).FirstSpan;
        Assert.True(Unsafe.AreSame(ref given, ref MemoryMarshal.GetReference(there)));
    }

    // Whole blocks, each ended after a byte, would take memory without end.
    [Fact]
    public void GetSpan_LargeHintsAndSmallWrites_TakeAtMostTwiceWhatIsWritten()
    {
        using TestSetup setup = new(maximumBlocks: 64);
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        for (int i = 0; i < 20 * TestSetup.BlockSize; i++)
        {
            stream.GetSpan(TestSetup.BlockSize)[0] = (byte)i;
            stream.Advance(1);
        }

        Assert.InRange(setup.Statistics.RentedBytes, stream.Length, 2 * stream.Length + 4 * TestSetup.BlockSize);
        Assert.Equal(Enumerable.Range(0, 20 * TestSetup.BlockSize).Select(static i => (byte)i), stream.ToArray());
    }

    [Fact]
    public void Advance_AfterAnotherCall_IsRefusedAndItsBlockServesTheNext()
    {
        using TestSetup setup = new();
        using PooledMemoryStream stream = setup.Allocator.CreateStream(TestSetup.BlockSize);
        stream.Write(new byte[TestSetup.BlockSize - 1]);
        foreach (Action<PooledMemoryStream> other in (Action<PooledMemoryStream>[])
            [
                static s => s.ReadByte(), static s => s.Position = s.Length, static s => s.Seek(0, SeekOrigin.End),
                static s => s.ToArray(), static s => s.SetLength(s.Length), static s => s.AsReadOnlySequence(), static s => s.CopyTo(s),
            ])
        {
            stream.GetSpan(100);
            Assert.Equal(2, setup.Statistics.OutstandingAllocations);
            other(stream);
            Assert.Throws<InvalidOperationException>(() => stream.Advance(1));
            Assert.InRange(setup.Statistics.OutstandingAllocations, 1, 2);
        }

        Assert.Equal(TestSetup.BlockSize - 1, stream.Length);
        stream.SetLength(stream.Length);
        Assert.Equal(1, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void EveryMember_AfterDispose_Throws()
    {
        using TestSetup setup = new();
        PooledMemoryStream stream = setup.Allocator.CreateStream(3 * TestSetup.BlockSize);
        stream.Write(new byte[10 * TestSetup.BlockSize]);
        stream.GetSpan(100_000);
        Assert.True(setup.Statistics.OutstandingAllocations >= 10);
        stream.Dispose();
        Assert.Throws<ObjectDisposedException>(() => stream.GetSpan(1).Length);
        Assert.Throws<ObjectDisposedException>(() => stream.GetMemory(1));
        Assert.Throws<ObjectDisposedException>(() => stream.Advance(1));
        Assert.Throws<ObjectDisposedException>(() => stream.Advance(0));
        Assert.Throws<ObjectDisposedException>(() => stream.AsReadOnlySequence());
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
        Assert.True(setup.AllIsIdle);
    }

    // Ours are of the derived type, which names value and range, and always name the parameter.
    private static string Without(string outcome) => outcome
        .Replace(nameof(ArgumentOutOfRangeException), nameof(ArgumentException), StringComparison.Ordinal)
        .Replace(" of sizeHint", "", StringComparison.Ordinal)
        .Replace(" of count", "", StringComparison.Ordinal);

    private static void Fill(IBufferWriter<byte> writer, Memory<byte> memory)
    {
        Assert.NotNull(writer);
        for (int i = 0; i < memory.Length; i++)
        {
            memory.Span[i] = (byte)(i * 3);
        }
    }

    private static object? Call(Action action)
    {
        action();
        return null;
    }

    private static object? Times(int count, Action action)
    {
        for (int i = 0; i < count; i++)
        {
            action();
        }

        return null;
    }
}
