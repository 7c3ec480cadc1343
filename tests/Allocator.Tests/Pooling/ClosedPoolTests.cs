namespace Allocator.Tests.Pooling;

/// <summary>The allocator is disposed while another than a renter holds blocks.</summary>
public class ClosedPoolTests
{
    private const int Block = TestSetup.BlockSize;

    [Fact]
    public void Dispose_DuringATrim_LeavesNoReservation()
    {
        TestSetup setup = new(4);
        setup.Allocator.AllocateGroup<byte>(4 * Block).Dispose();
        setup.Source.OnPurge = () =>
        {
            setup.Source.OnPurge = null;
            setup.Allocator.Dispose();
        };
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0, 0L), (setup.Source.LiveReservations, setup.Statistics.CommittedBytes));
    }

    [Fact]
    public void Dispose_DuringAPrewarm_LeavesNothing()
    {
        TestSetup setup = new(8);
        int commits = 0;
        setup.Source.Refuses = kind =>
        {
            if (kind == "commit" && ++commits == 3)
            {
                setup.Allocator.Dispose();
            }

            return false;
        };
        setup.Allocator.Prewarm(5 * Block);
        Assert.Equal((0, 0L), (setup.Source.LiveReservations, setup.Statistics.CommittedBytes));
    }

    [Fact]
    public void Dispose_DuringARefusedRent_LeavesNothing()
    {
        TestSetup setup = new(8);
        setup.Source.RefuseFrom = 1;
        setup.Source.Refuses = kind => kind != "reserve";
        setup.Clock.OnDelay = setup.Allocator.Dispose;
        Assert.Throws<OutOfMemoryException>(() => setup.Allocator.Allocate<byte>(Block));
        Assert.Equal((0, 0L), (setup.Source.LiveReservations, setup.Statistics.CommittedBytes));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Dispose_WhileOtherThreadsReturnBlocks_FreesEveryOne(bool isHeap)
    {
        for (int round = 0; round < 1000; round++)
        {
            CountingHeap heap = new();
            TestSetup setup = new(4, source: isHeap ? heap : null);
            IMemoryOwner<byte>[] owners = [.. Enumerable.Range(0, 4).Select(_ => setup.Allocator.Allocate<byte>(Block))];
            await Task.WhenAll(
                Task.Run(() => { owners[0].Dispose(); owners[1].Dispose(); }),
                Task.Run(() => { owners[2].Dispose(); owners[3].Dispose(); }),
                Task.Run(setup.Allocator.ReleaseRetainedResources),
                Task.Run(setup.Allocator.Dispose));
            Assert.Equal((0, 0, 0L), (heap.Live, setup.Source.LiveReservations, setup.Statistics.CommittedBytes));
        }
    }

    /// <summary>A heap that counts what it has given.</summary>
    private sealed class CountingHeap : NativeMemorySource
    {
        private readonly NativeMemorySource _heap = NativeMemorySource.Create(NativeMemoryKind.Heap, HugePages.Off);
        private int _live;

        public CountingHeap()
            : base(overreadToleranceInBytes: 0)
        {
        }

        public int Live => _live;

        public override long RoundUp(long lengthInBytes) => _heap.RoundUp(lengthInBytes);

        public override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed)
        {
            System.Threading.Interlocked.Increment(ref _live);
            return _heap.TryAllocate(lengthInBytes, alignmentInBytes, out zeroed);
        }

        public override void Free(nint address, long lengthInBytes)
        {
            System.Threading.Interlocked.Decrement(ref _live);
            _heap.Free(address, lengthInBytes);
        }
    }
}
