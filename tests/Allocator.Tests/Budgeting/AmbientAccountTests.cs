using Allocator.Budgeting;

namespace Allocator.Tests.Budgeting;

public class AmbientAccountTests
{
    private static readonly LearnedJobs s_owner = new();

    // Each flow begins within the use of the one before it, which ends before that of the next: none waits for another.
    [Fact]
    public void Leave_FlowsThatStartEachOther_KeepsNoneAlive()
    {
        const int Flows = 100;
        List<WeakReference> uses = [];
        ExecutionContext flow = ExecutionContext.Capture()!;
        for (int i = 0; i < Flows; i++)
        {
            flow = Begin(flow, uses);
            if (i > 0)
            {
                End(uses[i - 1]);
            }
        }

        GC.Collect();
        Assert.InRange(uses.Count(static reference => reference.IsAlive), 1, 3);
        GC.KeepAlive(flow);
        End(uses[^1]);
    }

    // As a loop of jobs, each of which begins the next one. In a process of its own: a chain of them ends it by a stack overflow.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Close_JobsThatStartEachOther_KeepsNoEndedJobAlive(bool isLimited) => RemoteExecutor.Invoke(
        static isLimited =>
        {
            MemoryBudget? budget = bool.Parse(isLimited) ? new MemoryBudget(100) : null;
            List<WeakReference> jobs = [];
            ReservationAccount job = BegunAccount.Of(budget, 10);
            for (int i = 0; i < 50_000; i++)
            {
                job = BeginNext(job);
                jobs.Add(new WeakReference(job));
            }

            GC.Collect();
            Assert.InRange(jobs.Count(static reference => reference.IsAlive), 1, 3);
            Assert.True(job.TryTake(5, overtakes: false) && job.TryTake(10, overtakes: false) && !job.IsClosed);
            Assert.Equal(budget is null ? 0 : 15, budget?.AdmittedBytes ?? 0);
            job.Return(15);
            job.Close();
            Assert.Equal(0, budget?.AdmittedBytes ?? 0);
        },
        isLimited.ToString()).Dispose();

    [Fact]
    public void IsAnyLive_AllHaveEnded_IsFalseAgain() => RemoteExecutor.Invoke(static () =>
    {
        AmbientAccount first = new(BegunAccount.Of(null, 0), s_owner);
        AmbientAccount second = new(BegunAccount.Of(null, 0), s_owner);
        Assert.True(AmbientAccount.IsAnyLive);
        first.Leave();
        first.Leave();
        Assert.True(AmbientAccount.IsAnyLive);
        Assert.Same(second, AmbientAccount.Find(s_owner));
        second.Leave();
        Assert.Null(AmbientAccount.Find(s_owner));
        Assert.False(AmbientAccount.IsAnyLive);
    }).Dispose();

    // The scope that was never disposed.
    [Fact]
    public void IsAnyLive_TheReservationHasEnded_IsFalseAfterTheNextLook() => RemoteExecutor.Invoke(static () =>
    {
        ReservationAccount reservation = BegunAccount.Of(null, 0);
        AmbientAccount use = new(reservation, s_owner);
        Assert.Same(use, AmbientAccount.Find(s_owner));
        reservation.Close();
        Assert.Null(AmbientAccount.Find(s_owner));
        Assert.False(AmbientAccount.IsAnyLive);
    }).Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ReservationAccount BeginNext(ReservationAccount job)
    {
        AmbientAccount use = new(job, s_owner);
        ReservationAccount next = BegunAccount.Of(use, 10);
        use.Leave();
        job.Close();
        return next;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ExecutionContext Begin(ExecutionContext within, List<WeakReference> uses)
    {
        ExecutionContext? flow = null;
        ExecutionContext.Run(within, _ =>
        {
            uses.Add(new WeakReference(new AmbientAccount(BegunAccount.Of(null, 0), s_owner)));
            flow = ExecutionContext.Capture();
        }, null);
        return flow!;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void End(WeakReference use) => ((AmbientAccount)use.Target!).Leave();
}
