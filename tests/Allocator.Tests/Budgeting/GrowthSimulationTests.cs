using Allocator.Budgeting;
using Xunit.Abstractions;

namespace Allocator.Tests.Budgeting;

/// <summary>
/// Why growth goes ahead of newcomers: jobs whose estimates are off by up to 40 % come to a budget of 100 at random, as fast as it can
/// serve them, and reserve their estimate. Those that need more grow half way. Counted are those that fail. By the real queue, in
/// simulated time.
/// </summary>
public class GrowthSimulationTests
{
    private const int Limit = 100;
    private const int Jobs = 2000;

    private readonly ITestOutputHelper _output;

    public GrowthSimulationTests(ITestOutputHelper output) => _output = output;

    private enum Growth { GoesAhead, IsANewcomer, OneWaitsAndASecondFails }

    [Theory]
    [InlineData(0.6, 2)]
    [InlineData(0.85, 5)]
    public void Growth_AheadOfNewcomers_FailsFarLessOften(double load, int atLeastTimes)
    {
        // A full budget has long queues, which are slow in a debug build: the nightly run takes all ten seeds, in Release.
        int runs = load < 0.8 || OptimizedBuild.IsOptimized ? 10 : 3;
        double ahead = PercentFailed(Growth.GoesAhead, load, runs);
        double newcomer = PercentFailed(Growth.IsANewcomer, load, runs);
        double oneWaits = PercentFailed(Growth.OneWaitsAndASecondFails, load, runs);
        string figures =
            $"Load {load}: {ahead:F2} % fail, {newcomer:F2} % as newcomers, {oneWaits:F2} % where one waits and a second fails.";
        _output.WriteLine(figures);
        Assert.True(ahead * atLeastTimes <= newcomer && ahead * atLeastTimes <= oneWaits && ahead < 0.5 && newcomer > 0, figures);
    }

    private static double PercentFailed(Growth growth, double load, int runs) =>
        Enumerable.Range(1, runs).Sum(seed => new Run(growth, load, seed).CountFailures()) * 100.0 / (runs * Jobs);

    private sealed class Run(Growth growth, double load, int seed)
    {
        private readonly MemoryBudget _budget = new(Limit, new FakeClock());
        private readonly Random _random = new(seed);
        private readonly PriorityQueue<Action, double> _events = new();
        private readonly List<(BudgetRequest Request, Action<bool> Settled)> _waiting = [];
        private double _now;
        private int _growing;
        private int _failed;

        public int CountFailures()
        {
            double arrival = 0;
            for (int i = 0; i < Jobs; i++)
            {
                long estimate = (long)Math.Round(4 * Math.Pow(15, _random.NextDouble()));
                long need = (long)(estimate * (0.6 + _random.NextDouble() * 0.8));
                double duration = 1 + _random.NextDouble();

                // On average a job takes 22 of the budget for 1.5.
                arrival += -Math.Log(1 - _random.NextDouble()) * 22 * 1.5 / (load * Limit);
                _events.Enqueue(() => Arrive(estimate, need, duration), arrival);
            }

            while (_events.TryDequeue(out Action? next, out _now))
            {
                next();
                while (_waiting.Find(static waiting => !waiting.Request.IsWaiting) is { Request: not null } settled)
                {
                    _waiting.Remove(settled);
                    settled.Settled(settled.Request.IsGranted);
                }
            }

            Assert.Equal((0L, 0), (_budget.AdmittedBytes, _waiting.Count));
            return _failed;
        }

        // Growth beyond twice what a reservation was made with is a newcomer: of one that was made with nothing, all.
        private void Arrive(long estimate, long need, double duration)
        {
            bool isEmpty = growth == Growth.IsANewcomer;
            ReservationAccount account = isEmpty ? BegunAccount.Of(_budget, 0) : new ReservationAccount(_budget, new RunningJob(estimate));
            BudgetRequest request = isEmpty
                ? new BudgetRequest(account.AsGrowth(), estimate)
                : new BudgetRequest(_budget, estimate, begins: account);
            Post(request, isGranted =>
            {
                Assert.True(isGranted);
                _events.Enqueue(() => HalfWay(account, need - estimate, duration / 2), _now + duration / 2);
            });
        }

        private void HalfWay(ReservationAccount account, long missing, double duration)
        {
            if (missing <= 0)
            {
                _events.Enqueue(() => account.Close(), _now + duration);
                return;
            }

            bool fails = growth == Growth.OneWaitsAndASecondFails && _growing > 0;
            _growing++;
            Post(new BudgetRequest(account.AsGrowth(), missing), mayWait: !fails, settled: isGranted =>
            {
                _growing--;
                _failed += isGranted ? 0 : 1;
                _events.Enqueue(() => account.Close(), isGranted ? _now + duration : _now);
            });
        }

        private void Post(BudgetRequest request, Action<bool> settled, bool mayWait = true)
        {
            _budget.Post(request, mayWait);
            _waiting.Add((request, settled));
        }
    }
}
