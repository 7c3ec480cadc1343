using Allocator.Budgeting;
using Xunit.Abstractions;

namespace Allocator.Tests.Budgeting;

/// <summary>
/// Jobs of unknown sizes, on two cores, all at once in a fresh process: pieces of 4 MB, 8 ms each, and everything is freed at the
/// end. By the real queue, in simulated time. What is expected was printed by <c>LearnedSimulation.py</c>, for the same jobs.
/// </summary>
public class LearnedSimulationTests
{
    private const long Megabyte = 1 << 20;
    private const int Jobs = 64;
    private const int Piece = 4;
    private const double Step = 0.004;
    private const double SecondsOfPiece = 0.008;
    private const int Cores = 2;

    private static readonly int[] s_peaks = [24, 24, 44, 60, 60, 150];

    private readonly ITestOutputHelper _output;

    public LearnedSimulationTests(ITestOutputHelper output) => _output = output;

    // The columns: MB of the budget, seed of the sizes, whether a refused job comes again after a second, whether sizes double half way.
    [Theory]
    [InlineData(170, 1, false, false, 64, 0, 10.22)]
    [InlineData(200, 2, false, false, 64, 0, 10.73)]
    [InlineData(256, 3, false, false, 64, 0, 6.05)]
    [InlineData(170, 4, true, false, 64, 0, 10.35)]
    [InlineData(200, 5, true, true, 64, 1, 13.02)]
    [InlineData(200, 11, true, true, 64, 1, 11.67)]
    [InlineData(200, 11, false, true, 63, 1, 11.23)]
    [InlineData(170, 6, false, true, 64, 0, 11.60)]
    public void ReserveByName_AllAtOnce_AreDoneAsSimulated(
        int budget, int seed, bool retries, bool doubles, int done, int refused, double seconds)
    {
        Run run = new(budget * Megabyte, seed, retries, doubles);
        run.ToItsEnd();
        _output.WriteLine($"{run.Done} done in {run.Seconds:F2} s, {run.Refused} refused; Python: {done}, {seconds} s, {refused}");
        Assert.InRange(run.Done, done - 2, Jobs);
        Assert.InRange(run.Refused, 0, refused + 2);
        Assert.InRange(run.Seconds / seconds, 0.93, 1.07);
    }

    private sealed class Job(int peak)
    {
        public int Peak => peak;

        public BudgetRequest? Request { get; set; }

        public ReservationAccount? Account { get; set; }

        public int Held { get; set; }

        public double Work { get; set; }

        public bool IsLastPart { get; set; }

        public double NotBefore { get; set; }

        public int Tries { get; set; }

        public bool HasEnded { get; set; }

        public bool IsRunning => Account is not null && Request is null;
    }

    private sealed class Run
    {
        private readonly MemoryBudget _budget;
        private readonly LearnedJob _learned = new("");
        private readonly List<Job> _jobs = [];
        private readonly bool _retries;

        public Run(long budget, int seed, bool retries, bool doubles)
        {
            _budget = new MemoryBudget(budget, new FakeClock());
            _retries = retries;
            long random = seed;
            for (int i = 0; i < Jobs; i++)
            {
                random = (1103515245 * random + 12345) % (1L << 31);
                int peak = s_peaks[(int)(random >> 16) % s_peaks.Length];
                int most = (int)(budget / Megabyte * 3 / 4);
                _jobs.Add(new Job(doubles ? Math.Min(most, i >= Jobs / 2 ? 2 * peak : peak) : peak));
            }
        }

        public int Done { get; private set; }

        public int Refused { get; private set; }

        public double Seconds { get; private set; }

        public void ToItsEnd()
        {
            for (double now = 0; _jobs.Exists(static job => !job.HasEnded); now += Step)
            {
                Assert.True(now < 600, "The jobs wait for ever.");
                double share = Math.Min(1, (double)Cores / Math.Max(1, _jobs.Count(static job => job.IsRunning))) * Step;
                foreach (Job job in _jobs.Where(static job => job.IsRunning).ToList())
                {
                    Work(job, share, now);
                }

                foreach (Job job in _jobs)
                {
                    LookAt(job, now);
                }
            }

            Assert.Equal((0L, 0, 0L), (_budget.AdmittedBytes, _budget.Waiters, _budget.ReservedBytes));
        }

        private void Work(Job job, double share, double now)
        {
            job.Work -= share;
            if (job.Work > 0)
            {
                return;
            }

            if (job.Held < job.Peak)
            {
                if (job.Account!.TryTake(Piece * Megabyte, overtakes: false))
                {
                    Take(job);
                }
                else
                {
                    job.Request = new BudgetRequest(job.Account, Piece * Megabyte);
                    _budget.Post(job.Request);
                }
            }
            else if (!job.IsLastPart)
            {
                job.IsLastPart = true;
                job.Work = job.Peak / Piece * SecondsOfPiece * 0.3;
            }
            else
            {
                End(job);
                job.HasEnded = true;
                Done++;
                Seconds = now;
            }
        }

        private void LookAt(Job job, double now)
        {
            if (job.Account is null && job.Request is null && !job.HasEnded && job.NotBefore <= now)
            {
                job.Request = new BudgetRequest(_budget, _learned.SizeFor(_budget), job: _learned);
                _budget.Post(job.Request);
            }

            if (job.Request is not { IsWaiting: false } settled)
            {
                return;
            }

            job.Request = null;
            if (job.Account is null)
            {
                Assert.True(settled.IsGranted);
                job.Account = new ReservationAccount(_budget, settled.Bytes) { Job = _learned };
            }
            else if (settled.IsGranted)
            {
                Take(job);
            }
            else
            {
                Assert.Equal(BudgetOutcome.Stuck, settled.Outcome);
                End(job);
                Refused++;
                job.HasEnded = !_retries || ++job.Tries > 3;
                job.NotBefore = now + 1;
            }
        }

        private static void Take(Job job)
        {
            job.Held += Piece;
            job.Work = SecondsOfPiece;
        }

        private static void End(Job job)
        {
            job.Account!.Return(job.Held * Megabyte);
            job.Account.Close();
            job.Account = null;
            job.Held = 0;
            job.IsLastPart = false;
        }
    }
}
