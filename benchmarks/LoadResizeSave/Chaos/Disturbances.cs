namespace LoadResizeSave.Chaos;

/// <summary>What another process of a container is to do: take so much memory in steps, keep it for a while, and end.</summary>
internal sealed record NeighbourRequest(int Megabytes);

/// <summary>
/// What happens to a process in a container, or beside it. All of it begins when some jobs have ended, and leaves nothing behind.
/// </summary>
internal static partial class Disturbances
{
    private const int SignalStop = 19;
    private const int SignalContinue = 18;
    private const int JobsBefore = 8;
    private const int StepMegabytes = 16;

    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_step = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan s_neighbourStays = TimeSpan.FromSeconds(5);

    public static ChildTask<NeighbourRequest, NeighbourRequest> Neighbour { get; } = new(
        "neighbour", ContainerJson.Default.NeighbourRequest, ContainerJson.Default.NeighbourRequest, BeNeighbour);

    public static Func<ContainedProcess, CancellationToken, Task> StopTwiceAsync(TimeSpan time) => async (process, ended) =>
    {
        for (int i = 1; i <= 2; i++)
        {
            if (!await WaitForJobsAsync(process, i * JobsBefore, ended))
            {
                return;
            }

            Signal(process.Id, SignalStop);
            try
            {
                await Task.Delay(time, CancellationToken.None);
            }
            finally
            {
                Signal(process.Id, SignalContinue);
            }
        }
    };

    /// <summary>
    /// Lowers the limit in steps. Version 1 refuses a step for which the kernel cannot reclaim enough; it is tried again.
    /// </summary>
    public static Func<ContainedProcess, CancellationToken, Task> LowerAsync(int from, int to) => async (process, ended) =>
    {
        if (await WaitForJobsAsync(process, JobsBefore, ended))
        {
            for (int limit = from; limit > to && !ended.IsCancellationRequested;)
            {
                int next = Math.Max(to, limit - StepMegabytes);
                limit = process.Group.TrySetLimit(next * (1L << 20)) ? next : limit;
                await Task.Delay(s_step, CancellationToken.None);
            }
        }
    };

    public static Func<ContainedProcess, CancellationToken, Task> AddNeighbourAsync(int megabytes) => async (process, ended) =>
    {
        if (!await WaitForJobsAsync(process, JobsBefore, ended))
        {
            return;
        }

        ProcessStartInfo start = Neighbour.Describe(new NeighbourRequest(megabytes));
        process.Group.Wrap(start);
        using Process neighbour = ChildProgram.Start(start);
        try
        {
            await neighbour.WaitForExitAsync(ended);
        }
        catch (OperationCanceledException)
        {
            // Its input ends, and it with it.
            neighbour.StandardInput.Close();
            await neighbour.WaitForExitAsync(CancellationToken.None);
        }
    };

    private static unsafe NeighbourRequest BeNeighbour(NeighbourRequest request)
    {
        for (int taken = 0; taken < request.Megabytes; taken += StepMegabytes)
        {
            nuint bytes = (nuint)Math.Min(StepMegabytes, request.Megabytes - taken) << 20;
            NativeMemory.Fill(NativeMemory.Alloc(bytes), bytes, 1);
            Thread.Sleep(s_step);
        }

        Thread.Sleep(s_neighbourStays);
        return request;
    }

    private static async Task<bool> WaitForJobsAsync(ContainedProcess process, int jobs, CancellationToken ended)
    {
        while (process.EndedJobs < jobs)
        {
            if (ended.IsCancellationRequested)
            {
                return false;
            }

            await Task.Delay(s_look, CancellationToken.None);
        }

        return !ended.IsCancellationRequested;
    }

    private static void Signal(int process, int signal) => _ = Kill(process, signal);

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int Kill(int process, int signal);
}
