namespace Allocator.Tests.Fuzzing;

/// <content>What asks for memory, or for a part of the budget.</content>
internal sealed partial class Fuzzer
{
    // An array, blocks, a group's worth, more than a pool.
    private static readonly int[] s_sizes = [16, TestSetup.ArrayThreshold, Block, 4 * Block, TestSetup.SegmentSize, 30 * Block];

    private int NextSize() => _random.Next(_random.Next(s_sizes.Length) is int kind && kind == 0 ? 0 : 1, s_sizes[kind] + 1);

    private AllocationOptions NextOptions() => (AllocationOptions)_random.Next(4);

    // The allocator; a reservation; or the allocator in a flow that uses a reservation, or one within another, so that the request is
    // charged to it all the same.
    private AllocatorChoice NextAllocator()
    {
        if (_oracle.Reservations.Count == 0 || _random.Next(3) != 0)
        {
            return new(_setup.Allocator, []);
        }

        return _random.Next(2) == 0
            ? new(NextReservation(), [])
            : new(_setup.Allocator, [.. Enumerable.Range(0, _random.Next(1, 3)).Select(_ => NextReservation())]);
    }

    private MemoryReservation NextReservation() => _oracle.Reservations[_random.Next(_oracle.Reservations.Count)];

    private void AllocateBytes()
    {
        int length = NextSize();
        AllocationOptions options = NextOptions();
        AllocatorChoice from = NextAllocator();
        Add($"Allocate<byte>({length}, {options}) from {from}", length, options, () =>
            new LiveOwner<byte>(_id, from.Do(allocator => allocator.Allocate<byte>(length, options)), length)
            {
                IsArray = length <= TestSetup.ArrayThreshold,
            });
    }

    private void AllocateLongs()
    {
        int length = NextSize() / 8;
        AllocationOptions options = NextOptions();
        Add($"Allocate<long>({length}, {options})", length * 8L, options, () =>
            new LiveOwner<long>(_id, _setup.Allocator.Allocate<long>(length, options), length)
            {
                IsArray = length * 8L <= TestSetup.ArrayThreshold,
            });
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
        AllocatorChoice from = NextAllocator();
        Add($"AllocateGroup<byte>({length}, {elementAlignment}, {options}) from {from}", length, options, () =>
            new LiveGroup(_id, from.Do(allocator => allocator.AllocateGroup<byte>(length, elementAlignment, options)), length)
            {
                IsArray = length <= TestSetup.ArrayThreshold,
            });
    }

    private void AllocatePixels()
    {
        int width = _random.Next(1, 5000);
        int height = Math.Max(1, NextSize() / 4 / width);
        AllocationOptions options = NextOptions();
        AllocatorChoice from = NextAllocator();
        Add($"AllocatePixels<int>({width}, {height}, {options}) from {from}", width * 4L * height, options, () =>
            new LivePixels(_id, from.Do(allocator => allocator.AllocatePixels<int>(width, height, options)))
            {
                IsArray = width * 4 * height <= TestSetup.ArrayThreshold,
            });
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
            buffer = Call(allocate);
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
            Call(() =>
            {
                using MemoryLease<byte> lease = _setup.Allocator.Rent<byte>(length);
                Assert.Equal(length, lease.Span.Length);
                lease.Span.Fill(0xEE);
                lease.Dispose();
            });
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
            Call(() => _setup.Allocator.Prewarm(bytes));
            _oracle.ExpectNoCallbackFailed();
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
        Task<MemoryReservation> reserving = Call(() => _setup.Allocator.ReserveAsync(bytes, cancellation.Token).AsTask());
        if (reserving.Exception?.InnerException is Exception failure and not MemoryLimitExceededException)
        {
            Assert.True(_oracle.MayRefuse(failure, bytes), failure.ToString());
            Log($"    refused: {failure.Message}");
        }
        else if (_oracle.HasRoomFor(bytes))
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

    // Waits without a thread, while buffer after buffer comes back: what is granted is granted at once, and at the latest when nothing
    // is out.
    private void Wait()
    {
        int length = NextSize();
        AllocatorChoice from = NextAllocator();
        Log($"AllocateAsync<byte>({length}) from {from}");
        _id++;
        Task<System.Buffers.IMemoryOwner<byte>> waiting;
        try
        {
            waiting = Call(() => from.Do(allocator => allocator.AllocateAsync<byte>(length).AsTask()));
            while (_oracle.IsSomethingWaiting && _oracle.TryDisposeOfSomething(_random, Log))
            {
                // A refusal may be decided on another thread, and reaches the task later. It is judged by what is out when it is decided.
                QueuedWork.Wait();
            }

            System.Buffers.IMemoryOwner<byte> owner = FuzzOracle.ResultOf(waiting);
            _oracle.Add(new LiveOwner<byte>(_id, owner, length) { IsArray = length <= TestSetup.ArrayThreshold }, measured: true);
        }
        catch (Exception exception) when (_oracle.MayRefuse(exception, length) || (exception is ObjectDisposedException && from.IsEnded))
        {
            Log($"    refused: {exception.Message}");
        }
    }

    /// <summary>What a request is made of, and the reservations that its flow uses meanwhile, the innermost one last.</summary>
    private sealed record AllocatorChoice(MemoryAllocator Allocator, MemoryReservation[] Uses)
    {
        /// <summary>Gets whether it is a reservation that was disposed while the request waited.</summary>
        public bool IsEnded => Allocator is MemoryReservation { RemainingBytes: 0 };

        public T Do<T>(Func<MemoryAllocator, T> request) => Do(request, 0);

        public override string ToString() =>
            Uses.Length == 0 ? Allocator.ToString()! : $"{Allocator} in a flow that uses {string.Join(", ", (object[])Uses)}";

        private T Do<T>(Func<MemoryAllocator, T> request, int index)
        {
            if (index == Uses.Length)
            {
                return request(Allocator);
            }

            using (Uses[index].Use())
            {
                return Do(request, index + 1);
            }
        }
    }
}
