using System.Collections.Concurrent;

namespace Allocator.Tests.Lifetime;

/// <summary>Threads are interrupted all the time, by others. A rent may fail of it; a return must not, and nothing may be lost.</summary>
public class InterruptTests
{
    private const int Workers = 4;

    // Threads that are interrupted all the time take long where other processes have the processors.
    private static RemoteInvokeOptions Options => new() { TimeOut = 5 * RemoteExecutor.FailWaitTimeoutMilliseconds };

    [Fact]
    public void Dispose_InterruptedWhileStatisticsAreRead_LeavesExactCounts() =>
        RemoteExecutor.Invoke(static () => Run(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 64 }, generations: 2), Options)
            .Dispose();

    [Fact]
    public void Dispose_InterruptedWithinAScope_LeavesExactCounts() =>
        RemoteExecutor.Invoke(
            static () => Run(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 64 }, generations: 2, inScope: true),
            Options).Dispose();

    [Fact]
    public void Dispose_InterruptedInSampledMode_LeavesExactCounts() => RemoteExecutor.Invoke(static () => Run(
        new MemoryAllocatorOptions
        {
            MaximumPoolSizeMegabytes = 64,
            Safety = SafetyMode.Sampled,
            SafetySampleInterval = 4,
        }, generations: 2), Options).Dispose();

    [Fact]
    public void Dispose_InterruptedUnderABudget_LeavesExactCounts() => RemoteExecutor.Invoke(static () => Run(
        new MemoryAllocatorOptions
        {
            MaximumPoolSizeMegabytes = 64,
            MemoryBudgetMegabytes = 48,
            BudgetTimeout = TimeSpan.FromMilliseconds(100),
        }, generations: 2), Options).Dispose();

    [Fact]
    public void Dispose_OfAllocatorsInterrupted_LeavesNothing() => RemoteExecutor.Invoke(static () =>
    {
        // An allocator for each rent takes long: fewer rents, and four times as many in the nightly run.
        Load load = new(null, rents: 50);
        load.Run(generations: Races.Rounds > 1 ? 4 : 1);
        Assert.Empty(load.Failures.Select(static failure => failure.ToString()).Distinct());
        Assert.Equal(0, MemoryDiagnostics.OutstandingAllocations);
        Assert.DoesNotContain(load.Ended, static allocator => allocator.GetStatistics().CommittedBytes != 0);
        Assert.NotEmpty(load.Ended);
    }, Options).Dispose();

    private static void Run(MemoryAllocatorOptions options, int generations, bool inScope = false)
    {
        MemoryAllocator allocator = MemoryAllocator.Create(options);
        using AllocationScope? scope = inScope ? MemoryDiagnostics.BeginScope() : null;
        Load load = new(allocator, rents: 200);
        load.Run(generations);

        MemoryAllocatorStatistics now = allocator.GetStatistics();
        Assert.Equal((0L, 0L, 0L), (now.OutstandingAllocations, now.RentedBytes, now.BudgetUsedBytes));
        Assert.Equal(0, MemoryDiagnostics.OutstandingAllocations);
        Assert.Empty(load.Failures.Select(static failure => failure.ToString()).Distinct());
        Assert.True(load.Interrupts > 100, $"{load.Interrupts} interrupts reached a thread.");
        scope?.AssertNothingOutstanding();
        allocator.Dispose();
        Assert.Equal(0, allocator.GetStatistics().CommittedBytes);
    }

    /// <summary>
    /// Some threads that rent, some that only return and end soon, one that interrupts them all, and two that read statistics. Without an
    /// allocator each rent makes one of its own.
    /// </summary>
    private sealed class Load
    {
        private readonly MemoryAllocator? _shared;
        private readonly int _rents;
        private readonly IDisposable?[] _handedOver = new IDisposable?[64];
        private readonly Thread?[] _threads = new Thread?[Workers * 2];
        private readonly ConcurrentQueue<Exception> _failures = new();
        private int _interrupts;
        private volatile bool _isOver;

        public Load(MemoryAllocator? shared, int rents)
        {
            _shared = shared;
            _rents = rents;
        }

        /// <summary>Gets the allocators that were made and disposed.</summary>
        public ConcurrentQueue<MemoryAllocator> Ended { get; } = new();

        public IReadOnlyCollection<Exception> Failures => _failures;

        public int Interrupts => _interrupts;

        public void Run(int generations)
        {
            Thread[] others = [new(Interrupt), new(Read), new(Read)];
            Array.ForEach(others, static thread => thread.Start());
            for (int generation = 0; generation < generations * Races.Rounds; generation++)
            {
                Thread[] threads = new Thread[_threads.Length];
                for (int i = 0; i < threads.Length; i++)
                {
                    int seed = generation * threads.Length + i;
                    threads[i] = new Thread(i < Workers ? () => Work(seed) : Return);
                    threads[i].Start();
                    Volatile.Write(ref _threads[i], threads[i]);
                }

                Array.ForEach(threads, static thread => thread.Join());
            }

            _isOver = true;
            Array.ForEach(others, static thread => thread.Join());
            Return();
        }

        private void Interrupt()
        {
            while (!_isOver)
            {
                for (int i = 0; i < _threads.Length; i++)
                {
                    Volatile.Read(ref _threads[i])?.Interrupt();
                }

                Thread.Yield();
            }
        }

        private void Read()
        {
            while (!_isOver)
            {
                _shared?.GetStatistics();
                _ = MemoryDiagnostics.OutstandingAllocations;
            }
        }

        private void Work(int seed)
        {
            Random random = new(seed);
            for (int i = 0; i < _rents; i++)
            {
                IDisposable? buffer = null;
                try
                {
                    buffer = _shared is null ? RentFromOwn(random) : Rent(_shared, random);

                    // An interrupt that was put off is still to come.
                    Thread.Sleep(i % 8 == 0 ? 1 : 0);
                }
                catch (ThreadInterruptedException)
                {
                    Interlocked.Increment(ref _interrupts);
                }
                catch (MemoryLimitExceededException)
                {
                }

                buffer = Interlocked.Exchange(ref _handedOver[random.Next(_handedOver.Length)], buffer);
                Dispose(buffer);
            }
        }

        private IDisposable RentFromOwn(Random random)
        {
            MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 16 });
            try
            {
                return Rent(allocator, random);
            }
            finally
            {
                Dispose(allocator);
                Ended.Enqueue(allocator);
            }
        }

        private static IDisposable Rent(MemoryAllocator allocator, Random random) => random.Next(9) switch
        {
            0 => allocator.Allocate<byte>(4 << 20),
            1 => allocator.AllocateGroup<byte>(6 << 20),
            2 => allocator.AllocatePixels<int>(700, 500),
            3 => new Pinned(allocator.Allocate<byte>(random.Next(1, 100_000))),
            4 => allocator.TrackExternalMemory(10_000),
            5 => Filled(allocator.CreateStream()),
            _ => allocator.Allocate<byte>(random.Next(1, 100_000)),
        };

        private static PooledMemoryStream Filled(PooledMemoryStream stream)
        {
            try
            {
                stream.Write(new byte[5000]);
                return stream;
            }
            catch
            {
                stream.Dispose();
                throw;
            }
        }

        private void Return()
        {
            for (int i = 0; i < _handedOver.Length; i++)
            {
                Dispose(Interlocked.Exchange(ref _handedOver[i], null));
            }
        }

        private void Dispose(IDisposable? buffer)
        {
            try
            {
                buffer?.Dispose();
            }
            catch (Exception e)
            {
                // No lock: this thread is interrupted too.
                _failures.Enqueue(e);
            }
        }
    }

    private sealed class Pinned : IDisposable
    {
        private readonly IMemoryOwner<byte> _owner;
        private MemoryHandle _handle;

        public Pinned(IMemoryOwner<byte> owner)
        {
            _owner = owner;
            _handle = owner.Memory.Pin();
        }

        public void Dispose()
        {
            _owner.Dispose();
            _handle.Dispose();
        }
    }
}
