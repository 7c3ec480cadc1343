using Allocator.Budgeting;
using Xunit.Abstractions;

namespace Allocator.Tests.Budgeting;

/// <summary>
/// Photographs on two cores, 64 at once in a fresh process of a container of 350 MB, whose other use is 60 MB. Half of them are of 12 to
/// 15 megapixels and take 48 to 60 MB; 15 % of these are progressive and take 110 to 138. The others are small and take 1 to 2 MB. By the
/// real queue and the real headroom, in simulated time, beside a semaphore that lets the same photographs in. Without sizes, small
/// photographs wait as if they were large.
/// </summary>
public class GateSimulationTests
{
    private const long Megabyte = 1 << 20;
    private const int Jobs = 256;
    private const int AtOnce = 64;
    private const int StepMilliseconds = 5;
    private const int Seeds = 30;

    private static readonly Host s_small = new(Cores: 2, Megabytes: 350, Slowness: 1);

    // By drift: nothing else makes a difference to the work behind a semaphore.
    private static readonly Dictionary<int, double[][]> s_semaphores = [];

    private readonly ITestOutputHelper _output;

    public GateSimulationTests(ITestOutputHelper output) => _output = output;

    public enum Memory
    {
        /// <summary>The allocator's: the gate sees every byte.</summary>
        OfTheAllocator,

        /// <summary>A library's: only the container shows it.</summary>
        Elsewhere,
    }

    [Theory]
    [InlineData(Memory.OfTheAllocator, true, 0)]
    [InlineData(Memory.OfTheAllocator, false, 0)]
    [InlineData(Memory.OfTheAllocator, true, 60)]
    [InlineData(Memory.Elsewhere, true, 0)]
    [InlineData(Memory.Elsewhere, false, 0)]
    [InlineData(Memory.Elsewhere, true, 60)]
    [InlineData(Memory.Elsewhere, false, 60)]
    public void ReserveByName_AllAtOnce_TakesNoLongerThanTheBestSemaphore(Memory memory, bool hasSizes, int drift)
    {
        if (!s_semaphores.TryGetValue(drift, out double[][]? semaphores))
        {
            semaphores = [.. Enumerable.Range(1, 4).Select(permits => RunSemaphore(s_small, permits, drift))];
            s_semaphores.Add(drift, semaphores);
        }

        Machine[] gates = RunAll(s_small, memory, hasSizes, drift, permits: null);

        // Two progressive photographs at the same moment, before one was seen, are two surprises; so is one while other memory grows. Of
        // 200 bursts 3 were lost with sizes and without other memory that grows, 12 to 28 otherwise (November 2026).
        Assert.InRange(gates.Count(static gate => gate.IsLost), 0, hasSizes && drift == 0 ? 1 : 5);
        for (int seed = 0; seed < Seeds; seed++)
        {
            Machine gate = gates[seed];
            // One that some of the seeds kill is none to compare with.
            double best = semaphores.Where(static seconds => !seconds.Contains(double.NaN)).Min(seconds => seconds[seed]);
            string figures = $"{gate.Done} of {Jobs} in {gate.Seconds:F1} s, {gate.MostMegabytes:F0} MB, {gate.MostAtOnce} at once; "
                + $"semaphores of 1 to 4: {string.Join(", ", semaphores.Select(seconds => $"{seconds[seed]:F1}"))} s.";
            _output.WriteLine(figures);
            Assert.True(gate.IsLost || gate.Done == Jobs, figures);
            Assert.True(gate.IsLost || gate.Seconds <= (hasSizes ? 1.25 : 1 / 0.6) * best, figures);
        }
    }

    // Decoders that take seconds: no job of a size is ever alone while others wait. What a fresh process loses is that few of each size run
    // at once until some have ended.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void ReserveByName_SlowJobsOnEightCores_TakeLessThanTwiceAsLongAsBehindASemaphoreOfEight(bool hasSizes)
    {
        Host host = new(Cores: 8, Megabytes: 4000, Slowness: 8);
        double[] semaphore = RunSemaphore(host, host.Cores, drift: 0);
        Machine[] gates = RunAll(host, Memory.Elsewhere, hasSizes, drift: 0, permits: null);
        for (int seed = 0; seed < Seeds; seed++)
        {
            string figures = $"{gates[seed].Done} of {Jobs} in {gates[seed].Seconds:F1} s; semaphore: {semaphore[seed]:F1} s.";
            _output.WriteLine(figures);
            Assert.True(gates[seed].Done == Jobs && gates[seed].Seconds < 2 * semaphore[seed], figures);
        }
    }

    private static double[] RunSemaphore(Host host, int permits, int drift) =>
        [.. RunAll(host, default, hasSizes: false, drift, permits).Select(static run => run.Seconds)];

    private static Machine[] RunAll(Host host, Memory memory, bool hasSizes, int drift, int? permits)
    {
        Machine[] all = [.. Enumerable.Range(1, Seeds).Select(seed => new Machine(host, seed, memory, hasSizes, drift, permits))];
        foreach (Machine machine in all)
        {
            machine.Run();
        }

        return all;
    }

    /// <summary>The processors, the container's limit, and how many times as long each photograph takes.</summary>
    private sealed record Host(int Cores, long Megabytes, double Slowness);

    private sealed class Photo(double peak, double seconds, long pixels)
    {
        public double Peak => peak;

        public long Pixels => pixels;

        public double Done { get; set; }

        public bool IsDone => Done >= seconds;

        public long Held { get; set; }

        public ReservationAccount? Account { get; set; }

        public BudgetRequest? Request { get; set; }

        // Half of the time it fills its bitmap, then it resizes and encodes.
        public double Wanted => peak * Math.Min(1, 2 * Done / seconds);
    }

    private sealed class Machine
    {
        private readonly FakeClock _clock = new();
        private readonly FakeHeadroom _left = new();
        private readonly ProcessHeadroom _headroom;
        private readonly MemoryBudget _budget;
        private readonly LearnedJob _job = new("");
        private readonly Queue<Photo> _photos = [];
        private readonly List<Photo> _waiting = [];
        private readonly List<Photo> _running = [];
        private readonly Host _host;
        private readonly Memory _memory;
        private readonly bool _hasSizes;
        private readonly int _drift;
        private readonly int? _permits;
        private double _elsewhere;

        public Machine(Host host, int seed, Memory memory, bool hasSizes, int drift, int? permits)
        {
            (_host, _memory, _hasSizes, _drift, _permits) = (host, memory, hasSizes, drift, permits);
            Random random = new(seed);
            for (int i = 0; i < Jobs; i++)
            {
                bool isLarge = random.Next(2) == 0;
                bool isProgressive = random.Next(100) < 15;
                double size = random.NextDouble();
                double seconds = host.Slowness * (!isLarge ? 0.01 : isProgressive ? 0.6 : 0.3);
                _photos.Enqueue(
                    !isLarge ? new Photo(1 + size, seconds, (long)(300_000 + (300_000 * size)))
                    : isProgressive ? new Photo(110 + (28 * size), seconds, (long)(12_000_000 + (3_000_000 * size)))
                    : new Photo(48 + (12 * size), seconds, (long)(12_000_000 + (3_000_000 * size))));
            }

            _headroom = new ProcessHeadroom(_left, _clock);
            Measure();
            _budget = new MemoryBudget(clock: _clock) { Headroom = _headroom, HonorsLimit = true };
            _headroom.Register(_budget);
        }

        public int Done { get; private set; }

        /// <summary>Gets whether the kernel has killed the process, or the limit has refused a job memory.</summary>
        public bool IsLost { get; private set; }

        /// <summary>Gets when the last was done; not a number if it was killed before.</summary>
        public double Seconds { get; private set; }

        public double MostMegabytes { get; private set; }

        public int MostAtOnce { get; private set; }

        public void Run()
        {
            for (int step = 1; _photos.Count + _waiting.Count + _running.Count > 0 && !IsLost; step++)
            {
                Assert.True(Seconds < 600, $"{_waiting.Count} wait for ever, {_running.Count} run.");
                while (_photos.Count > 0 && _waiting.Count + _running.Count < AtOnce)
                {
                    Ask(_photos.Dequeue());
                }

                Work();
                Seconds = step * StepMilliseconds / 1000.0;
                Measure();
                _clock.Advance(TimeSpan.FromMilliseconds(StepMilliseconds));
                if (step % 2 == 0)
                {
                    _budget.Look();
                    _budget.FreeForJobs();
                    _budget.ReadBase();
                }

                LetIn();
            }

            Seconds = IsLost ? double.NaN : Seconds;
            Assert.True(IsLost || (_budget.AdmittedBytes, _headroom.Running.Count, _budget.Waiters) == (0, 0, 0));
        }

        private void Ask(Photo photo)
        {
            _waiting.Add(photo);
            if (_permits is null)
            {
                long size = _hasSizes ? photo.Pixels : 1;
                photo.Account = new ReservationAccount(_budget, new RunningJob(_job.Of(size), size));
                photo.Request = new BudgetRequest(_budget, LearnedSize.Granularity, begins: photo.Account);
                _budget.Post(photo.Request);
            }
        }

        private void LetIn()
        {
            for (int i = 0; i < _waiting.Count; i++)
            {
                if (_permits is int permits ? _running.Count < permits : _waiting[i].Request!.IsGranted)
                {
                    Photo photo = _waiting[i];
                    _waiting.RemoveAt(i--);
                    photo.Request = null;
                    _running.Add(photo);
                    if (_permits is null)
                    {
                        _headroom.Sample();
                    }
                }
            }

            MostAtOnce = Math.Max(MostAtOnce, _running.Count);
        }

        private void Work()
        {
            int busy = _running.Count(static photo => photo.Request is not { IsWaiting: true });
            double share = Math.Min(1, (double)_host.Cores / Math.Max(1, busy)) * StepMilliseconds / 1000;
            foreach (Photo photo in _running.ToArray())
            {
                if (photo.Request is { IsWaiting: true })
                {
                    continue;
                }

                photo.Done += share;
                Take(photo, (long)(photo.Wanted * Megabyte) - photo.Held);
                if (photo.IsDone && photo.Request is null)
                {
                    End(photo);
                }
            }
        }

        private void Take(Photo photo, long bytes)
        {
            if (_permits is null && _memory == Memory.OfTheAllocator)
            {
                if (photo.Request is { } settled)
                {
                    Assert.True(settled.IsGranted, $"{settled.Outcome} after {Done} in {Seconds:F1} s.");
                    bytes = settled.Bytes;
                    photo.Request = null;
                }
                else if (bytes > 0 && !photo.Account!.TryTake(bytes, overtakes: false))
                {
                    photo.Request = new BudgetRequest(photo.Account, bytes);
                    _budget.Post(photo.Request);
                    return;
                }

                if (bytes > 0 && !_headroom.TryGrant(bytes, 0, honorsLimit: true))
                {
                    IsLost = true;
                    return;
                }

                _headroom.EndGrant(bytes, bytes);
                Assert.True(_budget.TryCount(bytes));
            }

            photo.Held += bytes;
            _elsewhere += bytes;
        }

        private void End(Photo photo)
        {
            _elsewhere -= photo.Held;
            if (_permits is null)
            {
                // What is released is gone from the figures by then.
                Measure();
                if (_memory == Memory.OfTheAllocator)
                {
                    _headroom.Release(photo.Held);
                    _budget.Uncount(photo.Held);
                    photo.Account!.Return(photo.Held);
                }

                photo.Account!.Close();
            }

            _running.Remove(photo);
            Done++;
        }

        // Up and down in 20 s.
        private void Measure()
        {
            double used = 60 + (_drift * Math.Sin(Seconds * Math.PI / 10)) + (_elsewhere / Megabyte);
            MostMegabytes = Math.Max(MostMegabytes, used);
            IsLost |= used > _host.Megabytes;
            long free = Math.Max(0, (long)((_host.Megabytes - used) * Megabyte));
            _left.Now = new Headroom(_host.Megabytes * Megabyte, free, free) { HardBytes = _host.Megabytes * Megabyte };
        }
    }
}
