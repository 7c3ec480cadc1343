using System;
using System.Collections.Generic;
using System.Linq;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using Allocator.Tests.Fakes;
using Xunit;

namespace Allocator.Tests.Fuzzing;

/// <summary>What must be true of an allocator, by a list of what is out of it.</summary>
internal sealed class FuzzOracle
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    private readonly TestSetup _setup;
    private readonly long? _budget;
    private readonly bool _quarantines;
    private long _rents;
    private long _abandoned;
    private MemoryAllocatorStatistics _last;

    public FuzzOracle(TestSetup setup, long? budget, AbandonedMemory abandoned)
    {
        _quarantines = abandoned == AbandonedMemory.Quarantine;
        _setup = setup;
        _budget = budget;
    }

    public List<LiveBuffer> Buffers { get; } = [];

    public List<MemoryReservation> Reservations { get; } = [];

    /// <summary>Gets whether somebody who waited has been let in.</summary>
    public bool IsSomethingGranted => _setup.Statistics.BudgetUsedBytes != UsedBytes;

    private long RentedBytes => Buffers.Where(static buffer => buffer.IsOut).Sum(static buffer => buffer.CapacityInBytes);

    private long ArrayBytes => Buffers.Where(static buffer => buffer.IsOut && buffer.IsArray).Sum(static buffer => buffer.CapacityInBytes);

    private long UsedBytes => _budget is null ? 0 : RentedBytes + _setup.Statistics.QuarantinedBytes + Reservations.Sum(static reservation => reservation.RemainingBytes);

    /// <summary>Gives the most that a request may take: whole blocks, or pages and a little between members, or the next power of two.</summary>
    public static long MostCapacityOf(long bytes) =>
        bytes <= TestSetup.ArrayThreshold ? Math.Max(4096, (long)BitOperations.RoundUpToPowerOf2((ulong)Math.Max(bytes, 16))) : (2 * bytes + 2 * TestSetup.BlockSize);

    public static T ResultOf<T>(Task<T> task)
    {
        Assert.True(Task.WhenAny(task, Task.Delay(s_patience)).GetAwaiter().GetResult() == task, "Somebody waits for ever.");
        return task.GetAwaiter().GetResult();
    }

    public void Add(LiveBuffer buffer, bool measured = false)
    {
        if (measured)
        {
            buffer.CapacityInBytes = _setup.Statistics.RentedBytes - RentedBytes;
            buffer.Fill(expectZeros: false);
        }

        Buffers.Add(buffer);
        CountRent();
    }

    public void CountRent() => _rents++;

    public LiveBuffer? Pick(Random random, Func<LiveBuffer, bool> condition)
    {
        LiveBuffer[] candidates = Buffers.Where(condition).ToArray();
        return candidates.Length == 0 ? null : candidates[random.Next(candidates.Length)];
    }

    /// <summary>Gives back one thing that counts against the budget. False where nothing is left.</summary>
    public bool TryDisposeOfSomething(Random random, Action<string> log)
    {
        if (Pick(random, static buffer => buffer.IsOut) is LiveBuffer buffer)
        {
            log($"    dispose of {buffer.CapacityInBytes} bytes");
            while (buffer.CanUnpin)
            {
                buffer.Unpin();
            }

            buffer.Dispose();
            return true;
        }

        if (Reservations.Count > 0)
        {
            log("    dispose of a reservation");
            Reservations[^1].Dispose();
            Reservations.RemoveAt(Reservations.Count - 1);
            return true;
        }

        return false;
    }

    public bool HasRoomFor(long bytes) => _budget is not long limit || UsedBytes + bytes <= limit;

    public bool NeverFits(long bytes) => bytes > _budget;

    /// <summary>Gives whether a request of that many bytes may fail like this now.</summary>
    public bool MayRefuse(Exception exception, long bytes) => exception switch
    {
        OutOfMemoryException => _setup.Source.RefuseFrom != int.MaxValue,
        MemoryLimitExceededException => !HasRoomFor(MostCapacityOf(bytes)) || _setup.Source.PurgesAllowed != int.MaxValue,
        ArgumentOutOfRangeException => true,
        _ => false,
    };

    /// <summary>After a request that failed: what the user can see is as before.</summary>
    public void ExpectUnchanged(in MemoryAllocatorStatistics before)
    {
        MemoryAllocatorStatistics now = _setup.Statistics;
        Assert.Equal(
            (before.RentedBytes, before.OutstandingAllocations, before.Rents, before.BudgetUsedBytes, before.Abandoned),
            (now.RentedBytes, now.OutstandingAllocations, now.Rents, now.BudgetUsedBytes, now.Abandoned));
    }

    /// <summary>Compares all figures and all contents.</summary>
    public void Compare()
    {
        foreach (LiveBuffer buffer in Buffers)
        {
            buffer.ExpectContents();
        }

        MemoryAllocatorStatistics now = _setup.Statistics;
        Assert.Equal(_rents, now.Rents);
        Assert.Equal(Buffers.Count(static buffer => buffer.IsOut), now.OutstandingAllocations);
        Assert.Equal(RentedBytes, now.RentedBytes);
        Assert.Equal(_abandoned, now.Abandoned);
        Assert.Equal(UsedBytes, now.BudgetUsedBytes);

        Assert.True(IsConserved(now), $"{now}: {ArrayBytes} bytes are arrays, and the system has given {_setup.Source.LiveBytes}.");
        Assert.True(_budget is not long limit || now.CommittedBytes + ArrayBytes + IdleArrayBytes(now) <= limit, "More is held than the budget allows.");
        Assert.True(now.PeakCommittedBytes >= now.CommittedBytes && now.TrimmedBytes >= _last.TrimmedBytes && now.PoolHits >= _last.PoolHits && now.PoolMisses >= _last.PoolMisses);
        _last = now;

        // Some disposed ones stay, to be used too late.
        LiveBuffer[] ended = Buffers.Where(static buffer => !buffer.IsOut).ToArray();
        foreach (LiveBuffer buffer in ended.SkipLast(4))
        {
            Buffers.Remove(buffer);
        }
    }

    public void ExpectNothingLeft()
    {
        MemoryAllocatorStatistics now = _setup.Statistics;
        Assert.Equal((0L, 0L, UsedBytes), (now.OutstandingAllocations, now.RentedBytes, now.BudgetUsedBytes));
        Assert.Equal(now.QuarantinedBytes, now.CommittedBytes);
        Assert.Equal(now.CommittedBytes, _setup.Source.LiveBytes);
    }

    /// <summary>Drops a buffer, and has it found. It is then in quarantine, or back.</summary>
    public void Abandon(LiveBuffer buffer)
    {
        Buffers.Remove(buffer);
        _abandoned++;
        DropOwner(buffer);
        for (int i = 0; i < 2; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        // What is not for the quarantine goes back on the thread pool: its memory first, and then its part of the budget.
        Assert.True(SpinWait.SpinUntil(() => _setup.Statistics is { } now && IsConserved(now) && now.BudgetUsedBytes == UsedBytes && (_quarantines || now.QuarantinedBytes == 0), s_patience), "What was abandoned does not come back.");
    }

    // Every byte is outstanding, retained or in quarantine, or the system has it. Of what is retained, idle arrays are not the system's, and bounded.
    private bool IsConserved(in MemoryAllocatorStatistics now) =>
        IdleArrayBytes(now) >= 0 && IdleArrayBytes(now) <= (_budget ?? 64 << 20) / 8 && now.CommittedBytes == _setup.Source.LiveBytes;

    private long IdleArrayBytes(in MemoryAllocatorStatistics now) => now.RentedBytes - ArrayBytes + now.RetainedBytes + now.QuarantinedBytes - now.CommittedBytes;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropOwner(LiveBuffer buffer) => buffer.Abandon();
}
