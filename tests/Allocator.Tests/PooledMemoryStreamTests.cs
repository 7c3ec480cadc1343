namespace Allocator.Tests;

public class PooledMemoryStreamTests
{
    [Fact]
    public void Write_AcrossManyBlocks_ReadsBackAndMovesNothing()
    {
        using TestSetup setup = new();
        byte[] content = Bytes(200_000);
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.Write(content, 0, 1000);
        ReadOnlySequence<byte> early = stream.AsReadOnlySequence();
        stream.Write(content.AsSpan(1000));

        Assert.True(early.First.Span.Overlaps(stream.AsReadOnlySequence().First.Span, out int offset) && offset == 0);
        Assert.Equal(content, stream.AsReadOnlySequence().ToArray());
        stream.Position = 0;
        byte[] read = new byte[content.Length];
        Assert.Equal(content.Length, stream.Read(read, 0, read.Length));
        Assert.Equal(content, read);
    }

    [Fact]
    public void CreateStream_WithCapacity_TakesNoMoreMemoryUpToIt()
    {
        using TestSetup setup = new();
        using PooledMemoryStream stream = setup.Allocator.CreateStream(5 * TestSetup.BlockSize);
        Assert.Equal(0, stream.Length);
        long rents = setup.Statistics.Rents;
        stream.Write(new byte[5 * TestSetup.BlockSize]);
        Assert.Equal(rents, setup.Statistics.Rents);
        stream.WriteByte(1);
        Assert.Equal(rents + 1, setup.Statistics.Rents);
    }

    [Theory]
    [InlineData(0, 1000)]
    [InlineData(1000, 0)]
    [InlineData(0, 5 * 4096)]
    [InlineData(3000, 3 * 4096 + 1)]
    public void Write_OfItsOwnMemory_WritesTheOriginalBytes(int from, int to)
    {
        using TestSetup setup = new();
        byte[] content = Bytes(8 * TestSetup.BlockSize);
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        using MemoryStream expected = new();
        stream.Write(content);
        expected.Write(content);
        ReadOnlySpan<byte> own = stream.AsReadOnlySequence().Slice(from).First.Span;
        byte[] copy = own.ToArray();

        stream.Position = expected.Position = to;
        stream.Write(own);
        expected.Write(copy);

        Assert.Equal(expected.ToArray(), stream.AsReadOnlySequence().ToArray());
    }

    [Fact]
    public void Write_FewBytes_TakesAnArrayAndNoBlock()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using PooledMemoryStream stream = allocator.CreateStream();
        stream.Write(new byte[100]);
        Assert.Equal(4096, allocator.GetStatistics().RentedBytes);
        stream.Write(new byte[900_000]);
        Assert.Equal(0, allocator.GetStatistics().CommittedBytes);
    }

    [Fact]
    public void SetLength_Shorter_ReturnsBlocksAtOnce()
    {
        using TestSetup setup = new();
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.Write(new byte[8 * TestSetup.BlockSize]);
        long before = setup.Statistics.OutstandingAllocations;
        stream.SetLength(TestSetup.BlockSize);
        Assert.True(setup.Statistics.OutstandingAllocations <= before - 6);
        stream.SetLength(0);
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void Write_RefusedByTheBudget_LeavesTheStreamAsItWas()
    {
        using TestSetup setup = new(budget: 6 * TestSetup.BlockSize);
        byte[] content = Bytes(3 * TestSetup.BlockSize);
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.Write(content);
        long outstanding = setup.Statistics.OutstandingAllocations;
        stream.Position = 100;

        Assert.Throws<MemoryLimitExceededException>(() => stream.Write(new byte[20 * TestSetup.BlockSize]));
        Assert.Throws<MemoryLimitExceededException>(() => stream.SetLength(20 * TestSetup.BlockSize));
        Assert.Throws<MemoryLimitExceededException>(() => stream.GetMemory(20 * TestSetup.BlockSize));

        Assert.Equal((100L, (long)content.Length), (stream.Position, stream.Length));
        Assert.Equal(outstanding, setup.Statistics.OutstandingAllocations);
        Assert.Equal(content, stream.AsReadOnlySequence().ToArray());
    }

    [Fact]
    public void Growth_BeyondTheWholeBudget_IsRefusedAndTakesNothing()
    {
        using TestSetup setup = new(budget: 6 * TestSetup.BlockSize);
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.WriteByte(1);
        MemoryAllocatorStatistics before = setup.Statistics;

        MemoryLimitExceededException thrown = Assert.Throws<MemoryLimitExceededException>(() => stream.SetLength(long.MaxValue));
        Assert.Equal((long.MaxValue, 6L * TestSetup.BlockSize), (thrown.RequestedBytes, thrown.LimitBytes));
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.CreateStream(7 * TestSetup.BlockSize));
        stream.Position = 7 * TestSetup.BlockSize;
        Assert.Throws<MemoryLimitExceededException>(() => stream.WriteByte(1));

        Assert.Equal((before.Rents, before.BudgetWaits), (setup.Statistics.Rents, setup.Statistics.BudgetWaits));
    }

    [Fact]
    public void SetLength_ShorterAndABlockWasCorrupted_IsStillShorter()
    {
        // A block has room before it only where pages are larger.
        const int Page = 16384;
        using TestSetup setup = new(
            16,
            new MemoryAllocatorOptions { Safety = SafetyMode.Guarded },
            new FakeMemorySource(pageSizeInBytes: Page),
            blockSize: 4 * Page);
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.Write(Bytes(1000));
        GuardedSetup.Change(GuardedSetup.AddressOf(stream.GetSpan()) - 1001);

        Assert.Throws<MemoryCorruptedException>(() => stream.SetLength(0));
        Assert.Equal((0L, 0L), (stream.Length, stream.Position));
        Assert.Equal(-1, stream.ReadByte());
        stream.WriteByte(7);
        Assert.Equal([7], stream.AsReadOnlySequence().ToArray());
    }

    [Fact]
    public void GetMemory_BehindABlockThatIsNearlyFull_IsTheStreamsNextBlock()
    {
        using TestSetup setup = new();
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.Write(Bytes(1000));
        stream.Write(Bytes(3020));
        long outstanding = setup.Statistics.OutstandingAllocations;
        for (int i = 0; i < 3; i++)
        {
            // Copied into what is left of the first block.
            stream.GetSpan(600).Slice(0, 1).Fill(9);
            stream.Advance(1);
        }

        Assert.Equal(outstanding + 1, setup.Statistics.OutstandingAllocations);
        Bytes(600).CopyTo(stream.GetSpan(600));
        stream.Advance(100);
        stream.Advance(500);
        Assert.Equal(outstanding + 1, setup.Statistics.OutstandingAllocations);
        Assert.Equal([.. Bytes(1000), .. Bytes(3020), 9, 9, 9, .. Bytes(600)], stream.ToArray());
    }

    [SkippableFact]
    public void Position_BeyondTwoGigabytes_WritesAndReads()
    {
        Skip.IfNot(Environment.Is64BitProcess, "There is no room for it.");
        const long Far = 3L * 1024 * 1024 * 1024 + 12_345;
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0 });
        using PooledMemoryStream stream = allocator.CreateStream();
        stream.WriteByte(1);
        stream.Seek(Far, SeekOrigin.Begin);
        stream.Write([2, 3, 4]);

        Assert.Equal(Far + 3, stream.Length);
        stream.Seek(-4, SeekOrigin.End);
        byte[] last = new byte[5];
        Assert.Equal(4, stream.Read(last));
        Assert.Equal([0, 2, 3, 4, 0], last);
        Assert.Equal(Far + 3, stream.AsReadOnlySequence().Length);
        Assert.Equal(3, stream.AsReadOnlySequence().Slice(Far + 1, 1).First.Span[0]);
        Assert.Equal(0, stream.AsReadOnlySequence().Slice(Far - 1, 1).First.Span[0]);
    }

    // Without a budget the limit for one allocation is what one call may add. It took what there was, block after block, until the process
    // ended.
    [Theory]
    [InlineData((1 << 20) + 1)]
    [InlineData(3L << 20)]
    [InlineData(1L << 50)]
    [InlineData(long.MaxValue - 1)]
    [InlineData(long.MaxValue)]
    public void Growth_BeyondTheLimitForOneAllocation_IsRefusedBeforeAnythingIsRented(long length)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 1 });
        using PooledMemoryStream stream = allocator.CreateStream();
        MemoryAllocatorStatistics before = allocator.GetStatistics();

        MemoryLimitExceededException ofLength = Assert.Throws<MemoryLimitExceededException>(() => stream.SetLength(length));
        Assert.Equal((length, 1L << 20, false), (ofLength.RequestedBytes, ofLength.LimitBytes, ofLength.IsTransient));
        Assert.Contains("1,048,576", ofLength.Message);
        Assert.Throws<MemoryLimitExceededException>(() => allocator.CreateStream(length));
        stream.Seek(length - 1, SeekOrigin.Begin);
        Assert.Throws<MemoryLimitExceededException>(() => stream.WriteByte(1));
        Assert.Throws<MemoryLimitExceededException>(() => stream.Write(new byte[1]));
        Assert.Throws<MemoryLimitExceededException>(() => stream.GetMemory());

        MemoryAllocatorStatistics after = allocator.GetStatistics();
        Assert.Equal(
            (before.Rents, before.CommittedBytes, 0L, length - 1), (after.Rents, after.CommittedBytes, stream.Length, stream.Position));
        stream.Position = 0;
        stream.WriteByte(1);
        Assert.Equal(1, stream.Length);
    }

    // A writer would go past the end of a shorter span.
    [Fact]
    public void GetSpan_MoreThanTheLimitForOneAllocationBesideWhatIsThere_IsRefused()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 1 });
        using PooledMemoryStream stream = allocator.CreateStream();
        stream.Write(new byte[600 * 1024]);
        Assert.Throws<MemoryLimitExceededException>(() => stream.GetSpan(1_363_149).Length);
        Assert.InRange(stream.GetSpan(1 << 20).Length, 1 << 20, int.MaxValue);
        Assert.Equal((600L * 1024, 600L * 1024), (stream.Length, stream.Position));
    }

    // What fits before the position was taken first, and then the write refused.
    [Fact]
    public void Write_PositionFitsButTheEndDoesNot_TakesNothing()
    {
        using TestSetup setup = new(budget: 6 * TestSetup.BlockSize);
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.Position = 5 * TestSetup.BlockSize;
        Assert.Throws<MemoryLimitExceededException>(() => stream.Write(new byte[2 * TestSetup.BlockSize]));
        Assert.Equal((0L, 0L), (setup.Statistics.Rents, setup.Statistics.BudgetUsedBytes));
    }

    [Fact]
    public void Write_PieceByPieceBeyondTheLimitForOneAllocation_IsServed()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 1 });
        using PooledMemoryStream stream = allocator.CreateStream();
        byte[] piece = new byte[1 << 20];
        for (int i = 0; i < 3; i++)
        {
            stream.Write(piece);
        }

        Assert.Equal(3L << 20, stream.Length);
    }

    // Longer than a block, it lies apart, beside the blocks that it is copied to: with an infinite timeout the call waited for ever for
    // memory that its own stream had.
    [Fact]
    public void GetMemory_SeparateMemoryBeyondTheBudget_IsRefusedWithoutAWait()
    {
        using TestSetup setup = new(budget: 6 * TestSetup.BlockSize);
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.WriteByte(1);
        long before = setup.Statistics.BudgetUsedBytes;

        Assert.Throws<MemoryLimitExceededException>(() => stream.GetMemory(6 * TestSetup.BlockSize));

        Assert.Equal((0L, before), (setup.Statistics.BudgetWaits, setup.Statistics.BudgetUsedBytes));
        Assert.Equal(5 * TestSetup.BlockSize, stream.GetMemory(5 * TestSetup.BlockSize).Length);
    }

    // Blocks were rounded up, and then the whole was said never to fit.
    [Theory]
    [InlineData(6, 5_700_000)]
    [InlineData(3, 2_000_000)]
    [InlineData(2, 2_000_000)]
    [InlineData(2, 1_100_000)]
    [InlineData(6, 6 << 20)]
    public void Growth_ExactSizeFitsTheBudgetButRoundedDoesNot_IsServed(int budgetMegabytes, int length)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = budgetMegabytes, HonorMemoryLimit = false });
        foreach (Action<PooledMemoryStream> grow in (Action<PooledMemoryStream>[])[
            stream => stream.Write(new byte[length]),
            stream => stream.SetLength(length),
            stream => { stream.GetSpan(length); stream.Advance(length); }])
        {
            using PooledMemoryStream stream = allocator.CreateStream();
            grow(stream);
            Assert.Equal(length, stream.Length);
        }

        using PooledMemoryStream reserved = allocator.CreateStream(length);
        reserved.Write(new byte[length]);
        byte[] more = new byte[(budgetMegabytes << 20) - length + 1];
        MemoryLimitExceededException refused = Assert.Throws<MemoryLimitExceededException>(() => reserved.Write(more));
        Assert.Equal(((budgetMegabytes << 20) + 1L, false), (refused.RequestedBytes, refused.IsTransient));
    }

    [Fact]
    public void GetSpan_BesideTheStreamsOwnBlocks_IsExactIfOnlyThatFits()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 8, HonorMemoryLimit = false });
        using PooledMemoryStream stream = allocator.CreateStream();
        stream.Write(Bytes(100));
        Bytes(4_500_000).CopyTo(stream.GetSpan(4_500_000));
        stream.Advance(4_500_000);
        Assert.Equal([.. Bytes(100), .. Bytes(4_500_000)], stream.ToArray());
    }

    [Fact]
    public void Growth_WithinTheBudgetToTheLastByte_NeverWaitsForItsOwnMemory()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MemoryBudgetMegabytes = 6,
            BudgetTimeout = System.Threading.Timeout.InfiniteTimeSpan,
            HonorMemoryLimit = false,
        });
        using PooledMemoryStream stream = allocator.CreateStream();
        stream.Write(Bytes(1000));
        stream.SetLength(6 << 20);
        stream.Position = stream.Length;
        Assert.Throws<MemoryLimitExceededException>(() => stream.WriteByte(1));
        Assert.Throws<MemoryLimitExceededException>(() => stream.GetMemory());
        Assert.Equal((6L << 20, 0L), (stream.Length, allocator.GetStatistics().BudgetWaits));
    }

    [Fact]
    public void EndOfStream_BeyondTheMaximumLength_ThrowsIoException()
    {
        using TestSetup setup = new();
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.Position = long.MaxValue;
        Assert.Throws<IOException>(() => stream.WriteByte(1));
        Assert.Throws<IOException>(() => stream.GetMemory());
        Assert.Throws<ArgumentOutOfRangeException>(() => stream.Seek(1, SeekOrigin.Current));
        Assert.Equal(-1, stream.ReadByte());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task CopyTo_AnotherStream_GetsTheBlocksThemselves(bool async)
    {
        using TestSetup setup = new();
        byte[] content = Bytes(100_000);
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.Write(content);
        stream.Position = 10;
        using RecordingStream target = new();
        if (async)
        {
            await stream.CopyToAsync(target, 1);
        }
        else
        {
            stream.CopyTo(target, 1);
        }

        Assert.Equal(content[10..], target.ToArray());
        Assert.Equal(stream.Length, stream.Position);

        // With a small buffer between there would be thousands of writes. The stream of netstandard2.0 lets only the asynchronous one be
        // overridden.
        bool isOwn = async
            || typeof(PooledMemoryStream)
                .GetMethod(nameof(Stream.CopyTo), [typeof(Stream), typeof(int)])!.DeclaringType == typeof(PooledMemoryStream);
        Assert.True(!isOwn || target.Writes <= 100_000 / TestSetup.BlockSize + 1, $"{target.Writes} writes");
    }

    // A stream need not look at the token of a write.
    [Fact]
    public async Task CopyToAsync_CancelledWhileTheTargetIgnoresIt_EndsAfterThatBlock()
    {
        using TestSetup setup = new();
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.Write(Bytes(5 * TestSetup.BlockSize));
        stream.Position = 0;
        using CancellationTokenSource cancellation = new();
        using CancellingStream target = new(cancellation);
        await Assert.ThrowsAsync<OperationCanceledException>(() => stream.CopyToAsync(target, 1, cancellation.Token));
        Assert.InRange(target.Length, 1, TestSetup.BlockSize);
    }

    [Fact]
    public void CopyTo_Itself_AppendsItsContent()
    {
        using TestSetup setup = new();
        byte[] content = Bytes(TestSetup.BlockSize);
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.Write(content);
        stream.Position = 0;
        stream.CopyTo(stream);
        Assert.Equal([.. content, .. content], stream.AsReadOnlySequence().ToArray());
    }

    [Fact]
    public void Advance_OverAllSeparateMemory_StaysWithinTheStream()
    {
        using TestSetup setup = new();
        using PooledMemoryStream stream = setup.Allocator.AllocateGroup<byte>(TestSetup.BlockSize + 61).AsStream();
        stream.Position = TestSetup.BlockSize - 10;
        Memory<byte> given = stream.GetMemory(70);
        given.Span.Fill(1);
        stream.Advance(given.Length);
        Assert.InRange(stream.Position, TestSetup.BlockSize + 60, TestSetup.BlockSize + 61);

        using PooledMemoryStream growing = setup.Allocator.CreateStream(TestSetup.BlockSize);
        growing.Position = TestSetup.BlockSize - 10;
        growing.GetMemory(5 * TestSetup.BlockSize);
        growing.SetLength(TestSetup.BlockSize - 10);
        growing.Position = TestSetup.BlockSize - 10;
        given = growing.GetMemory(20);
        given.Span.Fill(1);
        growing.Advance(given.Length);
        Assert.Equal(Enumerable.Repeat((byte)1, given.Length), growing.AsReadOnlySequence().Slice(TestSetup.BlockSize - 10).ToArray());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task CopyTo_StreamThatDisposesTheSource_Throws(bool async)
    {
        using TestSetup setup = new();
        PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.Write(new byte[5 * TestSetup.BlockSize]);
        stream.Position = 0;
        using DisposingStream target = new(stream);
        await Assert.ThrowsAsync<ObjectDisposedException>(async () =>
        {
            if (async)
            {
                await stream.CopyToAsync(target);
            }
            else
            {
                stream.CopyTo(target);
            }
        });
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void Write_PastTheEndInReusedMemory_LeavesZerosInTheGap()
    {
        using TestSetup setup = new();
        using (PooledMemoryStream dirty = setup.Allocator.CreateStream())
        {
            dirty.Write(Enumerable.Repeat((byte)0xAA, 5 * TestSetup.BlockSize).ToArray());
        }

        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        stream.WriteByte(1);
        stream.Position = 3 * TestSetup.BlockSize;
        stream.GetSpan(1)[0] = 2;
        stream.Advance(1);
        byte[] content = stream.AsReadOnlySequence().ToArray();
        Assert.Equal(-1, content.AsSpan(1, content.Length - 2).IndexOfAnyExcept((byte)0));
        Assert.Equal((1, 2), (content[0], content[^1]));
    }

    [Fact]
    public void AsStream_OfAGroup_IsThatMemory()
    {
        using TestSetup setup = new();
        byte[] content = Bytes(5 * TestSetup.BlockSize);
        using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(content.Length);
        using (PooledMemoryStream stream = group.AsStream(leaveOpen: true))
        {
            Assert.Equal((0L, (long)content.Length), (stream.Position, stream.Length));
            stream.SetLength(0);
            stream.Write(content);
            Assert.Throws<NotSupportedException>(() => stream.WriteByte(1));
            Assert.Throws<NotSupportedException>(() => stream.SetLength(content.Length + 1));
            Assert.Throws<NotSupportedException>(() => stream.GetMemory());
        }

        byte[] read = new byte[content.Length];
        group.CopyTo(read);
        Assert.Equal(content, read);
        Assert.True(group.Count > 1);
    }

    [Fact]
    public void AsStream_DisposedWithoutLeavingOpen_DisposesTheGroup()
    {
        using TestSetup setup = new();
        MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(100);
        PooledMemoryStream stream = group.AsStream();
        stream.Dispose();
        Assert.Throws<ObjectDisposedException>(() => group[0]);
        Assert.Throws<ObjectDisposedException>(() => group.AsStream());
        Assert.Throws<ArgumentNullException>(() => MemoryGroupExtensions.AsStream(null!));
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void Read_GroupDisposedBehindTheStream_Throws()
    {
        using TestSetup setup = new();
        MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(3 * TestSetup.BlockSize);
        using PooledMemoryStream stream = group.AsStream(leaveOpen: true);
        stream.ReadByte();
        group.Dispose();
        Assert.Throws<ObjectDisposedException>(() => stream.ReadByte());
    }

    internal static byte[] Bytes(int length)
    {
        byte[] bytes = new byte[length];
        new Random(length).NextBytes(bytes);
        return bytes;
    }

    private sealed class RecordingStream : MemoryStream
    {
        public int Writes { get; private set; }

        public override void Write(byte[] buffer, int offset, int count)
        {
            Writes++;
            base.Write(buffer, offset, count);
        }

        // Comes to the one above.
        public override void Write(ReadOnlySpan<byte> buffer) => base.Write(buffer);

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Write(buffer.Span);
            return default;
        }
    }

    private sealed class CancellingStream(CancellationTokenSource cancellation) : MemoryStream
    {
        public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
        {
            cancellation.Cancel();
            return base.WriteAsync(buffer, offset, count, CancellationToken.None);
        }

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            cancellation.Cancel();
            return base.WriteAsync(buffer, CancellationToken.None);
        }
    }

    private sealed class DisposingStream(Stream source) : MemoryStream
    {
        public override void Write(byte[] buffer, int offset, int count) => source.Dispose();

        public override void Write(ReadOnlySpan<byte> buffer) => source.Dispose();

        public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
        {
            source.Dispose();
            return Task.CompletedTask;
        }

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            source.Dispose();
            return default;
        }
    }
}
