namespace Allocator.Tests.Lifetime;

/// <summary>
/// A user's own finalizer disposes an owner whose guard waits for its finalizer too. The runtime runs them in any order.
/// </summary>
public class FinalizerOrderTests
{
    private const int Block = TestSetup.BlockSize;

    private static readonly List<IMemoryOwner<byte>> s_rented = [];

    [Theory]
    [InlineData(AbandonedMemory.Quarantine)]
    [InlineData(AbandonedMemory.Reuse)]
    public void Dispose_ByAUserFinalizer_ReturnsTheMemoryOnce(AbandonedMemory mode) => RemoteExecutor.Invoke(
        static text =>
        {
            for (int round = 0; round < 20 * Races.Rounds; round++)
            {
                // Part of the group from the pool, part from the system.
                using TestSetup setup = new(8, new MemoryAllocatorOptions { Abandoned = Enum.Parse<AbandonedMemory>(text) });
                DropHolders(setup, round);
                for (int i = 0; i < 4; i++)
                {
                    setup.Clock.Advance(TimeSpan.FromMinutes(2));
                    QueuedWork.Collect();
                }

                Assert.True(System.Threading.SpinWait.SpinUntil(
                    () =>
                        setup.Source.LiveAllocations == 0
                            && setup.Statistics is
                            {
                                QuarantinedBytes: 0,
                                RentedBytes: 0,
                                OutstandingAllocations: 0
                            }, TimeSpan.FromSeconds(30)));
                Assert.True(System.Threading.SpinWait.SpinUntil(() => setup.AllIsIdle, TimeSpan.FromSeconds(30)));

                // Every block is there once.
                List<IMemoryOwner<byte>> all = [.. Enumerable.Range(0, 8).Select(_ => setup.Allocator.Allocate<byte>(Block))];
                Assert.Equal(0, setup.Source.LiveAllocations);
                for (int i = 0; i < all.Count; i++)
                {
                    all[i].Memory.Span.Fill((byte)i);
                }

                for (int i = 0; i < all.Count; i++)
                {
                    Assert.Equal(-1, all[i].Memory.Span.IndexOfAnyExcept((byte)i));
                    all[i].Dispose();
                }
            }

            [MethodImpl(MethodImplOptions.NoInlining)]
            static void DropHolders(TestSetup setup, int round)
            {
                // Holder before and after what it holds: the queue of finalizers has the order of creation.
                _ = new Holder { Owned = setup.Allocator.AllocateGroup<byte>(3 * Block) };
                Holder early = new();
                Holder late = new() { Owned = setup.Allocator.Allocate<byte>(Block) };
                early.Owned = round % 2 == 0
                    ? setup.Allocator.AllocateGroup<byte>(8 * Block)
                    : setup.Allocator.AllocateGroup<byte>(30 * Block);
                GC.KeepAlive(late);
            }
        },
        mode.ToString()).Dispose();

    [Fact]
    public void Dispose_ByAUsersFinalizerThatRentsAgain_NeverEndsTheNewRent() => RemoteExecutor.Invoke(static () =>
    {
        for (int round = 0; round < 40; round++)
        {
            s_rented.Clear();
            using TestSetup setup = new(1);
            DropReplacer(setup);
            QueuedWork.Collect();
            QueuedWork.Collect();

            // Rented by the finalizer, and rooted ever since: alive, whatever other finalizers did.
            Assert.Single(s_rented).Memory.Span.Fill(1);
            using IMemoryOwner<byte> other = setup.Allocator.Allocate<byte>(Block);
            other.Memory.Span.Fill(2);
            Assert.Equal(-1, s_rented[0].Memory.Span.IndexOfAnyExcept((byte)1));
            s_rented[0].Dispose();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void DropReplacer(TestSetup setup)
        {
            Replacer replacer = new() { Allocator = setup.Allocator };
            replacer.Owned = setup.Allocator.Allocate<byte>(Block);
        }
    }).Dispose();

    [Fact]
    public void Dispose_ByAUsersFinalizer_TheGuardFindsTheNextAbandonment() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(1, new MemoryAllocatorOptions { Abandoned = AbandonedMemory.Reuse });
        for (int round = 0; round < 10; round++)
        {
            long before = setup.Statistics.Abandoned;
            DropHolder(setup);
            Collect();
            long afterHolder = setup.Statistics.Abandoned;
            Assert.InRange(afterHolder, before, before + 1);
            DropOwner(setup);
            Assert.Equal(0, setup.Source.LiveAllocations);
            Collect();
            Assert.Equal(afterHolder + 1, setup.Statistics.Abandoned);
        }

        static void Collect() => QueuedWork.Collect();

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void DropHolder(TestSetup setup) => GC.KeepAlive(new Holder { Owned = setup.Allocator.Allocate<byte>(Block) });

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void DropOwner(TestSetup setup) => GC.KeepAlive(setup.Allocator.Allocate<byte>(Block));
    }).Dispose();

    [Fact]
    public void Allocate_ByAUserFinalizerFromADroppedAllocator_StaysValid() => RemoteExecutor.Invoke(static () =>
    {
        int rented = 0;
        for (int round = 0; round < 40; round++)
        {
            s_rented.Clear();
            DropAllocatorAndRenters(round);
            for (int i = 0; i < 3; i++)
            {
                QueuedWork.Collect();
            }

            rented += s_rented.Count;
            for (int i = 0; i < s_rented.Count; i++)
            {
                s_rented[i].Memory.Span.Fill((byte)i);
            }

            for (int i = 0; i < s_rented.Count; i++)
            {
                Assert.Equal(-1, s_rented[i].Memory.Span.IndexOfAnyExcept((byte)i));
                s_rented[i].Dispose();
            }
        }

        Assert.True(rented > 0, "In no round has a finalizer rented.");

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void DropAllocatorAndRenters(int round)
        {
            Renter early = new();
            TestSetup setup = new(4, new MemoryAllocatorOptions { Abandoned = AbandonedMemory.Reuse });
            early.Allocator = setup.Allocator;
            setup.Allocator.AllocateGroup<byte>(4 * Block).Dispose();
            if (round % 2 == 0)
            {
                setup.Allocator.Allocate<byte>(Block).Dispose();
            }

            GC.KeepAlive(new Renter { Allocator = setup.Allocator });
        }
    }).Dispose();

    [Fact]
    public void Dispose_OfAResurrectedOwner_ReleasesTheGuard() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(1, new MemoryAllocatorOptions { Abandoned = AbandonedMemory.Reuse });
        DropResurrecting(setup);
        QueuedWork.Collect();
        IMemoryOwner<byte> owner = Assert.Single(s_rented);
        Assert.Throws<ObjectDisposedException>(() => owner.Memory);
        owner.Dispose();

        DropOwner(setup);
        QueuedWork.Collect();
        Assert.Equal(2, setup.Statistics.Abandoned);
        GC.KeepAlive(owner);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void DropResurrecting(TestSetup setup) => GC.KeepAlive(new Resurrecting { Owned = setup.Allocator.Allocate<byte>(Block) });

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void DropOwner(TestSetup setup) => GC.KeepAlive(setup.Allocator.Allocate<byte>(Block));
    }).Dispose();

    // The public API alone, with real sizes: an image class of the ordinary kind, never disposed.
    [Fact]
    public void Dispose_OfImagesByTheirFinalizers_KeepsPatternsIntact() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 64, TrimPeriod = TimeSpan.FromMilliseconds(50) });
        for (int round = 0; round < 20 * Races.Rounds; round++)
        {
            MakeImages(allocator, round);
            if (round % 5 == 4)
            {
                QueuedWork.Collect();
            }
        }

        Assert.Equal(MemoryDiagnostics.AbandonedAllocations, allocator.GetStatistics().Abandoned);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void MakeImages(MemoryAllocator allocator, int round)
        {
            Holder[] images = [.. Enumerable.Range(0, 6).Select(_ => new Holder())];
            PixelBuffer<int>[] pixels = new PixelBuffer<int>[images.Length];
            for (int i = 0; i < images.Length; i++)
            {
                pixels[i] = allocator.AllocatePixels<int>(1000, 800 * (i + 1));
                images[i].Owned = pixels[i];
                pixels[i].Fill(round * 10 + i);
            }

            // Only when all are there: two images in one block would not show before.
            for (int i = 0; i < images.Length; i++)
            {
                int mine = round * 10 + i;
                pixels[i].ProcessPixelRows(rows =>
                {
                    for (int y = 0; y < rows.Height; y++)
                    {
                        Assert.Equal(-1, rows.GetRowSpan(y).IndexOfAnyExcept(mine));
                    }
                });
            }

            GC.KeepAlive(images);
        }
    }).Dispose();

    private sealed class Holder
    {
        ~Holder() => Owned?.Dispose();

        public IDisposable? Owned { get; set; }
    }

    private sealed class Renter
    {
        ~Renter()
        {
            try
            {
                s_rented.Add(Allocator!.Allocate<byte>(Block));
            }
            catch (ObjectDisposedException)
            {
                // Its finalizer may have come first.
            }
        }

        public MemoryAllocator? Allocator { get; set; }
    }

    private sealed class Resurrecting
    {
        ~Resurrecting() => s_rented.Add(Owned!);

        public IMemoryOwner<byte>? Owned { get; set; }
    }

    private sealed class Replacer
    {
        ~Replacer()
        {
            Owned!.Dispose();
            s_rented.Add(Allocator!.Allocate<byte>(Block));
        }

        public MemoryAllocator? Allocator { get; set; }

        public IMemoryOwner<byte>? Owned { get; set; }
    }
}
