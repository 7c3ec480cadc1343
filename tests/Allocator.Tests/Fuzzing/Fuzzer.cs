using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Allocator.Tests.Fakes;
using Xunit;

namespace Allocator.Tests.Fuzzing;

/// <summary>
/// Does what a seed says with an allocator, operation by operation, and compares its figures and all contents with what a list of buffers says: the oracle has no more to it than that.
/// What fails first fails in the shortest sequence of that seed.
/// </summary>
internal sealed class Fuzzer : IDisposable
{
    private const int Block = TestSetup.BlockSize;

    // An array, blocks, a group's worth, more than a pool.
    private static readonly int[] s_sizes = [16, TestSetup.ArrayThreshold, Block, 4 * Block, TestSetup.SegmentSize, 30 * Block];

    private readonly int _seed;
    private readonly Random _random;
    private readonly TestSetup _setup;
    private readonly FuzzOracle _oracle;
    private readonly List<string> _log = [];
    private readonly bool _collects;
    private readonly (int Weight, Action Do)[] _operations;
    private int _id;

    /// <param name="seed">What everything follows from.</param>
    /// <param name="collects">Whether buffers are also abandoned, and collected: in a process of its own.</param>
    public Fuzzer(int seed, bool collects)
    {
        _seed = seed;
        _collects = collects;
        _random = new Random(seed);
        _setup = FuzzSetup.Create(_random, out long? budget, out AbandonedMemory abandoned);
        _oracle = new FuzzOracle(_setup, budget, abandoned);
        _operations =
        [
            (10, AllocateBytes), (3, AllocateLongs), (3, AllocateAligned), (6, AllocateGroup), (5, AllocatePixels), (4, Lease), (2, Prewarm), (3, Reserve), (2, CloseReservation), (3, Wait),
            (18, DisposeOne), (2, DisposeAgain), (4, Pin), (6, Unpin), (2, Trim), (4, LetTimePass), (2, ChangePressure), (3, RefuseSomething), (collects ? 3 : 0, Abandon),
        ];
    }

    /// <summary>Does so many operations, and then gives everything back.</summary>
    public void Run(int operations)
    {
        int weights = _operations.Sum(static operation => operation.Weight);
        try
        {
            for (int i = 0; i < operations; i++)
            {
                int chosen = _random.Next(weights);
                _operations.First(operation => (chosen -= operation.Weight) < 0).Do();
                _oracle.Compare();
            }

            End();
        }
        catch (Exception exception)
        {
            throw new InvalidOperationException($"Seed {_seed} fails at operation {_log.Count}{(_collects ? ", with collections" : "")}.\n{string.Join('\n', _log.TakeLast(25))}", exception);
        }
    }

    public void Dispose() => _setup.Dispose();

    private void End()
    {
        Log("the end");
        _setup.Source.Restart();
        _setup.Source.PurgesAllowed = int.MaxValue;
        foreach (LiveBuffer buffer in _oracle.Buffers.ToArray())
        {
            EndOne(buffer);
        }

        foreach (MemoryReservation reservation in _oracle.Reservations)
        {
            reservation.Dispose();
        }

        _oracle.Reservations.Clear();
        _oracle.Compare();
        if (_random.Next(2) == 0)
        {
            _setup.Clock.Advance(TimeSpan.FromMinutes(30));
            _oracle.Compare();
        }

        _setup.Allocator.Dispose();
        _oracle.ExpectNothingLeft();
        Assert.Throws<ObjectDisposedException>(() => _setup.Allocator.Allocate<byte>(1));
    }

    private static void EndOne(LiveBuffer buffer)
    {
        while (buffer.CanUnpin)
        {
            buffer.Unpin();
        }

        if (!buffer.IsDisposed)
        {
            buffer.Dispose();
        }
    }

    private int NextSize() => _random.Next(_random.Next(s_sizes.Length) is int kind && kind == 0 ? 0 : 1, s_sizes[kind] + 1);

    private AllocationOptions NextOptions() => (AllocationOptions)_random.Next(4);

    private MemoryAllocator NextAllocator() =>
        _oracle.Reservations.Count > 0 && _random.Next(3) == 0 ? _oracle.Reservations[_random.Next(_oracle.Reservations.Count)] : _setup.Allocator;

    private void AllocateBytes()
    {
        int length = NextSize();
        AllocationOptions options = NextOptions();
        MemoryAllocator from = NextAllocator();
        Add($"Allocate<byte>({length}, {options}) from {from}", length, options, () =>
            new LiveOwner<byte>(_id, from.Allocate<byte>(length, options), length) { IsArray = length <= TestSetup.ArrayThreshold });
    }

    private void AllocateLongs()
    {
        int length = NextSize() / 8;
        AllocationOptions options = NextOptions();
        Add($"Allocate<long>({length}, {options})", length * 8L, options, () =>
            new LiveOwner<long>(_id, _setup.Allocator.Allocate<long>(length, options), length) { IsArray = length * 8L <= TestSetup.ArrayThreshold });
    }

    private void AllocateAligned()
    {
        int length = NextSize();
        int alignment = 1 << _random.Next(0, 17);
        Add($"AllocateAligned<byte>({length}, {alignment})", length, AllocationOptions.None, () =>
            new LiveOwner<byte>(_id, _setup.Allocator.AllocateAligned<byte>(length, alignment), length)
            {
                IsArray = length <= TestSetup.ArrayThreshold && (alignment <= IntPtr.Size || length == 0),
            });
    }

    private void AllocateGroup()
    {
        int length = NextSize();
        int elementAlignment = _random.Next(1, 5000);
        AllocationOptions options = NextOptions();
        MemoryAllocator from = NextAllocator();
        Add($"AllocateGroup<byte>({length}, {elementAlignment}, {options}) from {from}", length, options, () =>
            new LiveGroup(_id, from.AllocateGroup<byte>(length, elementAlignment, options), length) { IsArray = length <= TestSetup.ArrayThreshold });
    }

    private void AllocatePixels()
    {
        int width = _random.Next(1, 5000);
        int height = Math.Max(1, NextSize() / 4 / width);
        AllocationOptions options = NextOptions();
        MemoryAllocator from = NextAllocator();
        Add($"AllocatePixels<int>({width}, {height}, {options}) from {from}", width * 4L * height, options, () =>
            new LivePixels(_id, from.AllocatePixels<int>(width, height, options)) { IsArray = width * 4 * height <= TestSetup.ArrayThreshold });
    }

    // The one operation that every allocation goes through. What is refused changes nothing.
    private void Add(string operation, long bytes, AllocationOptions options, Func<LiveBuffer> allocate)
    {
        Log(operation);
        _id++;
        MemoryAllocatorStatistics before = _setup.Statistics;
        LiveBuffer buffer;
        try
        {
            buffer = allocate();
        }
        catch (Exception exception) when (_oracle.MayRefuse(exception, bytes))
        {
            Log($"    refused: {exception.Message}");
            _oracle.ExpectUnchanged(before);
            return;
        }

        buffer.CapacityInBytes = _setup.Statistics.RentedBytes - before.RentedBytes;
        Assert.InRange(buffer.CapacityInBytes, bytes, FuzzOracle.MostCapacityOf(bytes));
        buffer.Fill(expectZeros: (options & AllocationOptions.Clean) != 0);
        _oracle.Add(buffer);
    }

    private void Lease()
    {
        int length = NextSize();
        Log($"Rent<byte>({length}), and dispose twice");
        MemoryAllocatorStatistics before = _setup.Statistics;
        try
        {
            using MemoryLease<byte> lease = _setup.Allocator.Rent<byte>(length);
            Assert.Equal(length, lease.Span.Length);
            lease.Span.Fill(0xEE);
            lease.Dispose();
            _oracle.CountRent();
        }
        catch (Exception exception) when (_oracle.MayRefuse(exception, length))
        {
            _oracle.ExpectUnchanged(before);
        }
    }

    private void Prewarm()
    {
        long bytes = _random.Next(0, 10) * (long)Block;
        Log($"Prewarm({bytes})");
        try
        {
            _setup.Allocator.Prewarm(bytes);
        }
        catch (Exception exception) when (_oracle.MayRefuse(exception, bytes))
        {
            Log($"    refused: {exception.Message}");
        }
    }

    private void Reserve()
    {
        long bytes = _random.Next(0, 8) * (long)Block + _random.Next(0, 2000);
        Log($"ReserveAsync({bytes})");
        using CancellationTokenSource cancellation = new();
        Task<MemoryReservation> reserving = _setup.Allocator.ReserveAsync(bytes, cancellation.Token).AsTask();
        if (_oracle.HasRoomFor(bytes))
        {
            _oracle.Reservations.Add(FuzzOracle.ResultOf(reserving));
        }
        else if (_oracle.NeverFits(bytes))
        {
            Assert.Throws<MemoryLimitExceededException>(() => FuzzOracle.ResultOf(reserving));
        }
        else
        {
            Assert.False(reserving.IsCompleted);
            cancellation.Cancel();
            Assert.ThrowsAny<OperationCanceledException>(() => FuzzOracle.ResultOf(reserving));
        }
    }

    private void CloseReservation()
    {
        if (_oracle.Reservations.Count > 0)
        {
            int index = _random.Next(_oracle.Reservations.Count);
            Log($"dispose of reservation {index}");
            _oracle.Reservations[index].Dispose();
            _oracle.Reservations[index].Dispose();
            _oracle.Reservations.RemoveAt(index);
        }
    }

    // Waits without a thread, while buffer after buffer comes back: what is granted is granted at once, and at the latest when nothing is out.
    private void Wait()
    {
        int length = NextSize();
        Log($"AllocateAsync<byte>({length})");
        _id++;
        Task<System.Buffers.IMemoryOwner<byte>> waiting;
        try
        {
            waiting = _setup.Allocator.AllocateAsync<byte>(length).AsTask();
            while (!waiting.IsCompleted && !_oracle.IsSomethingGranted && _oracle.TryDisposeOfSomething(_random, Log))
            {
            }

            System.Buffers.IMemoryOwner<byte> owner = FuzzOracle.ResultOf(waiting);
            _oracle.Add(new LiveOwner<byte>(_id, owner, length) { IsArray = length <= TestSetup.ArrayThreshold }, measured: true);
        }
        catch (Exception exception) when (_oracle.MayRefuse(exception, length))
        {
            Log($"    refused: {exception.Message}");
        }
    }

    private void DisposeOne()
    {
        if (_oracle.Pick(_random, static buffer => !buffer.IsDisposed) is LiveBuffer buffer)
        {
            Log($"dispose of {buffer.CapacityInBytes} bytes");
            buffer.Dispose();
        }
    }

    private void DisposeAgain()
    {
        if (_oracle.Pick(_random, static buffer => buffer.IsDisposed) is LiveBuffer buffer)
        {
            Log("dispose of what has been disposed");
            buffer.Dispose();
        }
    }

    private void Pin()
    {
        if (_oracle.Pick(_random, static buffer => !buffer.IsDisposed) is LiveBuffer buffer)
        {
            Log("pin");
            buffer.Pin();
        }
    }

    private void Unpin()
    {
        if (_oracle.Pick(_random, static buffer => buffer.CanUnpin) is LiveBuffer buffer)
        {
            Log("unpin");
            buffer.Unpin();
        }
    }

    private void Trim()
    {
        Log("release what is retained");
        _setup.Allocator.ReleaseRetainedResources();
        Assert.True(_setup.Statistics.RetainedBytes == 0 || _setup.Source.PurgesAllowed != int.MaxValue);
    }

    private void LetTimePass()
    {
        int seconds = _random.Next(1, 200);
        Log($"{seconds} s pass");
        _setup.Clock.Advance(TimeSpan.FromSeconds(seconds));
    }

    private void ChangePressure()
    {
        _setup.Pressure.IsHigh = _random.Next(2) == 0;
        Log($"pressure is high: {_setup.Pressure.IsHigh}");
    }

    private void RefuseSomething()
    {
        _setup.Source.Restart();
        if (_random.Next(2) == 0)
        {
            _setup.Source.RefuseFrom = _random.Next(1, 6);
            _setup.Source.RefuseCount = _random.Next(1, 12);
        }

        _setup.Source.PurgesAllowed = _random.Next(4) == 0 ? _setup.Source.Purges + _random.Next(3) : int.MaxValue;
        Log($"the system refuses {_setup.Source.RefuseCount} calls from {_setup.Source.RefuseFrom} on, and purges after {_setup.Source.PurgesAllowed}");
    }

    private void Abandon()
    {
        if (_oracle.Pick(_random, static buffer => !buffer.IsDisposed && !buffer.CanUnpin && !buffer.IsArray) is LiveBuffer buffer)
        {
            Log($"abandon {buffer.CapacityInBytes} bytes");
            _oracle.Abandon(buffer);
        }
    }

    private void Log(string operation) => _log.Add(operation);
}
