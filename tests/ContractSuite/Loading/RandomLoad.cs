using System.Collections.Concurrent;
using Allocator;

namespace ContractSuite.Loading;

/// <summary>What one thread does: one thing after the other, as its random numbers say.</summary>
internal sealed class RandomLoad
{
    private const int MaximumHoldings = 6;

    private static readonly ManualResetEvent s_never = new(initialState: false);

    private readonly MemoryAllocator _allocator;
    private readonly Tally _tally;
    private readonly ConcurrentQueue<Holding> _handedOver;
    private readonly Random _random;
    private readonly List<Holding> _holdings = new(MaximumHoldings + 1);
    private readonly bool _mayRunOut;

    /// <param name="allocator">What is loaded.</param>
    /// <param name="tally">What is counted.</param>
    /// <param name="handedOver">Buffers that one thread allocates and another disposes of.</param>
    /// <param name="seed">What the random numbers follow from.</param>
    /// <param name="mayRunOut">Whether the managed heap may be full at any time.</param>
    public RandomLoad(MemoryAllocator allocator, Tally tally, ConcurrentQueue<Holding> handedOver, int seed, bool mayRunOut)
    {
        _mayRunOut = mayRunOut;
        _allocator = allocator;
        _tally = tally;
        _handedOver = handedOver;
        _random = new Random(seed);
    }

    /// <summary>Does so many things, and gives back what it has.</summary>
    public void Run(int operations, CancellationToken stop)
    {
        for (int i = 0; i < operations && !stop.IsCancellationRequested; i++)
        {
            try
            {
                DoOne();
            }
            catch (MemoryLimitExceededException)
            {
                // Others have the budget: what this thread has may be what they wait for.
                _tally.Count("refused by the budget");
                DisposeOne();
            }
            catch (CallbackException)
            {
                _tally.Count("callbacks that threw into a call");
            }
            catch (OutOfMemoryException) when (_mayRunOut)
            {
                // What was allocated for this operation is abandoned.
            }
        }

        while (_holdings.Count > 0)
        {
            DisposeOne();
        }
    }

    private void DoOne()
    {
        switch (_random.Next(100))
        {
            case < 30:
                Hold(AllocateOwner(_allocator, NextLength()));
                break;
            case < 40:
                Hold(AllocateGroup(_allocator, NextLength()));
                break;
            case < 48:
                UsePixels();
                break;
            case < 58:
                UseLease();
                break;
            case < 63 when !_mayRunOut:
                Reserve().GetAwaiter().GetResult();
                break;
            case < 70 when !_mayRunOut:
                // Timers of cancellation tokens, and tasks: where there is no memory, those of the runtime end the process.
                WaitOrGiveUp().GetAwaiter().GetResult();
                break;
            case < 74:
                HandOver();
                break;
            case < 76:
                AbandonOne();
                break;
            case < 77:
                _allocator.ReleaseRetainedResources();
                _tally.Count("released all that was idle");
                break;
            case < 81:
                UseInterrupted();
                break;
            default:
                DisposeOne();
                break;
        }
    }

    // Small ones most often, and now and then a large one.
    private int NextLength() => _random.Next(1, 1 << _random.Next(6, 26));

    private static Holding AllocateOwner(MemoryAllocator from, int length)
    {
        IMemoryOwner<byte> owner = from.Allocate<byte>(length);
        return new Holding(owner, _ => owner.Memory, 1);
    }

    private static Holding AllocateGroup(MemoryAllocator from, int length)
    {
        MemoryGroup<byte> group = from.AllocateGroup<byte>(length);
        return new Holding(group, i => group[i], group.Count);
    }

    private void Hold(Holding holding)
    {
        _tally.Count("allocated");
        _holdings.Add(holding);
        if (_holdings.Count > MaximumHoldings)
        {
            DisposeOne();
        }
    }

    private void UsePixels()
    {
        int width = _random.Next(1, 3000);
        int height = _random.Next(1, 2000);
        using PixelBuffer<int> pixels = _allocator.AllocatePixels<int>(width, height, AllocationOptions.Clean);
        bool isClean = true;
        pixels.ProcessPixelRows(rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                isClean &= Pattern.IsAll(rows.GetRowSpan(y), 0);
                rows.GetRowSpan(y).Fill(y);
            }
        });
        Expect(isClean, "Clean pixels are not zero.");
        _tally.Count("pixel buffers");
    }

    private void UseLease()
    {
        using MemoryLease<byte> lease = _allocator.Rent<byte>(NextLength());
        Stamp stamp = Stamp.Write(lease.Span);
        Thread.Yield();
        Expect(stamp.IsOn(lease.Span), "A lease shares its memory with another.");
        _tally.Count("leases");
    }

    private async Task Reserve()
    {
        int length = NextLength();
        using CancellationTokenSource patience = new(TimeSpan.FromMilliseconds(_random.Next(1, 200)));
        try
        {
            using MemoryReservation reservation = await _allocator.ReserveAsync(
                _allocator.EstimateBytes(length, liveCopies: 2), patience.Token).ConfigureAwait(false);
            Holding first = AllocateOwner(reservation, length);
            try
            {
                End(AllocateGroup(reservation, length));
            }
            finally
            {
                End(first);
            }

            _tally.Count("reservations");
        }
        catch (OperationCanceledException)
        {
            _tally.Count("reservations given up");
        }
    }

    private async Task WaitOrGiveUp()
    {
        using CancellationTokenSource patience = new(TimeSpan.FromMilliseconds(_random.Next(0, 20)));
        try
        {
            int length = NextLength();
            IMemoryOwner<byte> owner = await _allocator.AllocateAsync<byte>(length, AllocationOptions.None, patience.Token)
                .ConfigureAwait(false);
            End(new Holding(owner, _ => owner.Memory, 1));
            _tally.Count("asynchronous allocations");
        }
        catch (OperationCanceledException)
        {
            _tally.Count("asynchronous allocations given up");
        }
    }

    // The interrupt takes effect where the thread first has to wait: in the library, or behind it.
    private void UseInterrupted()
    {
        int length = NextLength();
        Holding? holding = null;
        Thread.CurrentThread.Interrupt();
        try
        {
            holding = AllocateOwner(_allocator, length);
        }
        catch (ThreadInterruptedException)
        {
            // The request is off, and has left nothing behind.
        }
        finally
        {
            holding?.Dispose();
            EndInterrupt();
        }

        _tally.Count("interrupted");
    }

    private static void EndInterrupt()
    {
        try
        {
            s_never.WaitOne(1);
        }
        catch (ThreadInterruptedException)
        {
        }
    }

    // Takes one that another thread has left here, for one of its own.
    private void HandOver()
    {
        if (TakeAny() is Holding mine)
        {
            _handedOver.Enqueue(mine);
            _tally.Count("handed over");
        }

        if (_handedOver.TryDequeue(out Holding? other))
        {
            End(other);
        }
    }

    // Above what an array serves: those are the collector's business alone, and stay in the count of what is out.
    private void AbandonOne()
    {
        Holding holding = AllocateGroup(_allocator, _random.Next(2, 12) << 20);
        holding.Abandon();
        _tally.Count("abandoned");
    }

    private void DisposeOne()
    {
        if (TakeAny() is Holding holding)
        {
            End(holding);
        }
    }

    private Holding? TakeAny()
    {
        if (_holdings.Count == 0)
        {
            return null;
        }

        int index = _random.Next(_holdings.Count);
        Holding holding = _holdings[index];
        _holdings.RemoveAt(index);
        return holding;
    }

    private void End(Holding holding)
    {
        Expect(holding.IsIntact, "A buffer shares its memory with another.");
        holding.Dispose();
        if (_random.Next(8) == 0)
        {
            holding.Dispose();
        }
    }

    private void Expect(bool condition, string otherwise)
    {
        if (!condition)
        {
            _tally.Report(otherwise);
        }
    }
}
