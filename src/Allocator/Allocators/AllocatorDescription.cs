using System.Text;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;
using Allocator.Pooling;

namespace Allocator.Allocators;

/// <summary>
/// Describes an allocator for people, in about twenty lines: its limits and their origin, its memory and its age, and its work so far. A
/// line whose figures cannot be read says so.
/// </summary>
internal sealed class AllocatorDescription(AllocatorSettings settings, AllocatorCounters counters)
{
    private const string Options = nameof(MemoryAllocatorOptions) + ".";
    private const int Megabyte = 1024 * 1024;
    private const int MostJobs = 8;

    private readonly StringBuilder _text = new();

    public string Write(
        in MemoryAllocatorStatistics now, UniformUnmanagedMemoryPool pool, CountedArrayPool arrays, MemoryBudget budget, bool isDisposed)
    {
        string state = isDisposed ? ", disposed: outstanding memory is freed when it is returned" : "";
        _text.Append($"{nameof(MemoryAllocator)} {settings.Options.Name ?? "without a name"}, {settings.Safety} mode{state}\n");
        WriteLimits(now, budget);
        WriteJobs(budget.Jobs.All.Take(MostJobs).SelectMany(static job => job.ReadSizes()));
        WriteSystem();
        WriteOutstanding(now, pool);
        Line("idle", $"{Bytes(now.RetainedBytes)}, {Bytes(arrays.IdleBytes)} of it in arrays; "
            + $"{Bytes(now.QuarantinedBytes)} in quarantine");
        Line("held", $"{Bytes(now.CommittedBytes)} from the system, peak {Bytes(now.PeakCommittedBytes)}, without arrays");
        Line("served", Invariant($"{now.Rents:N0} rents, {now.PoolHits:N0} from idle memory, {now.PoolMisses:N0} from new memory"));
        WriteTrim(TrimReason.Period, "after idle periods");
        WriteTrim(TrimReason.HighLoad, "at high load");
        WriteTrim(TrimReason.Refusal, "to make room");
        WriteTrim(TrimReason.Requested, "by a call");
        string mapping = NativeMapThreshold.IsSet ? $"maps from {Bytes(NativeMapThreshold.Bytes)} on, " : "";
        Line("malloc", mapping + (!LibC.IsMallocOfGlibc() ? "not glibc's: nothing to set or to trim"
            : settings.HeapTrimmer is null ? $"not trimmed ({Options}{nameof(MemoryAllocatorOptions.TrimNativeHeap)})"
            : Invariant($"trimmed {now.NativeHeapTrims:N0} times, {Bytes(now.NativeHeapTrimmedBytes)} in {now.NativeHeapTrimTime}")));
        Line("trouble", Invariant($"{now.Abandoned:N0} never disposed, {now.AllocationRetries:N0} retries after a limit or the system ")
            + Invariant($"refused memory, {MemoryDiagnostics.RefusedUnmaps:N0} refused unmaps in the process"));
        return _text.ToString().TrimEnd();
    }

    private static string Bytes(long bytes) => Invariant($"{bytes / (double)Megabyte:#,0.##} MiB");

    private static string Option(string name, bool isSet) => isSet ? Options + name : $"by default, {Options}{name}";

    private static string Ago(long milliseconds) => milliseconds switch
    {
        < 1000 => "less than 1 s",
        < 120_000 => Invariant($"{milliseconds / 1000} s"),
        < 7_200_000 => Invariant($"{milliseconds / 60_000} min"),
        _ => Invariant($"{milliseconds / 3_600_000} h"),
    };

    private void Line(string title, string text) => _text.Append("  ").Append(title.PadRight(13)).Append(text).Append('\n');

    private void WriteLimits(in MemoryAllocatorStatistics now, MemoryBudget budget)
    {
        MemoryAllocatorOptions options = settings.Options;
        Line("pool", $"keeps up to {Bytes(settings.Geometry.MaximumBytes)} in blocks of {Bytes(settings.Geometry.BlockSizeInBytes)} "
            + $"({Option(nameof(options.MaximumPoolSizeMegabytes), options.MaximumPoolSizeMegabytes is not null)}"
            + (budget.IsCounted ? ", at most the budget)" : ")"));
        Line("one request", $"up to {Bytes(settings.AllocationLimitInBytes)} "
            + $"({Option(nameof(options.AllocationLimitMegabytes), options.AllocationLimitMegabytes is not null)})");
        Line("budget", settings.MemoryBudgetInBytes is not long limit
            ? $"none ({Options}{nameof(options.MemoryBudgetMegabytes)})"
            : $"{Bytes(limit)}, {Bytes(now.BudgetUsedBytes)} outstanding or reserved "
                + $"({Options}{nameof(options.MemoryBudgetMegabytes)})");
        Line("waiting", !budget.IsCounted && !budget.WatchesContainer
            ? "no: nothing waits without a limit"
            : Invariant($"{budget.Waiters:N0} requests now, {now.BudgetWaits:N0} so far; synchronous calls wait up to ")
                + $"{options.BudgetTimeout} ({Options}{nameof(options.BudgetTimeout)})");
        Line("stays free", settings.MinimumFreeBytes == 0
            ? $"no minimum ({Options}{nameof(options.MinimumFreeMegabytes)})"
            : $"{Bytes(settings.MinimumFreeBytes)} ({Options}{nameof(options.MinimumFreeMegabytes)})");
    }

    private void WriteJobs(IEnumerable<MemoryJobStatistics> jobs)
    {
        string title = "learned";
        foreach (MemoryJobStatistics job in jobs)
        {
            // A name may come from a request, and must not break the lines of a log.
            string name = new([.. job.Name.Select(static c => char.IsControl(c) ? '?' : c)]);
            string size = job.Size == 1 ? "" : Invariant($" from size {job.Size:N0}, up to {job.BytesPerUnit:#,0.##} bytes a unit");
            Line(title, Invariant($"{name}{size}: {Bytes(job.AllocatedBytes)}, elsewhere {Bytes(job.ElsewhereBytes)} ")
                + Invariant($"after {job.Ended:N0} jobs, {job.Refused:N0} of them refused; {job.Running:N0} run, {job.Waiting:N0} wait"));
            title = "";
        }
    }

    private void WriteSystem()
    {
        Headroom left = settings.Headroom.Read();
        Line("hard limit", !left.HasHardLimit
            ? "none, or it cannot be read"
            : $"{Bytes(left.CertainBytes)} of {Bytes(left.LimitBytes)} left, "
                + $"{(settings.HonorsMemoryLimit ? "honoured" : "not honoured")} "
                + $"({Options}{nameof(MemoryAllocatorOptions.HonorMemoryLimit)})");
        long? collector = SystemMemory.TryReadCollectorLimit();
        Line("collector", collector is long most ? $"may use up to {Bytes(most)}" : "reports no limit on this runtime");
        MemoryLoad load = settings.Pressure.ReadLoad();
        string stalled = load.StalledPercent is double percent ? Invariant($", threads stalled {percent:0.#} % of the time") : "";
        Line("load", load.Source == MemoryLoadSource.None
            ? "unknown: nothing can be read, so there is assumed to be room"
            : $"{(load.IsHigh ? "high" : "not high")}: {Bytes(load.UsedBytes)} of {Bytes(load.TotalBytes)} used{stalled}, "
                + $"by {load.Source}{(load.Origin is string origin ? $" {origin}" : "")}");
    }

    private void WriteOutstanding(in MemoryAllocatorStatistics now, UniformUnmanagedMemoryPool pool)
    {
        Line("outstanding", Invariant($"{now.OutstandingAllocations:N0} allocations, {Bytes(now.RentedBytes)}"));
        long milliseconds = settings.Clock.NowMilliseconds;
        int[] sizes = new int[4];
        int[] ages = new int[4];
        long longest = 0;
        int known = 0;
        foreach (BlockArena arena in pool.Arenas)
        {
            foreach (RentState record in arena.Records)
            {
                if (RentState.IsOutstanding(Volatile.Read(ref record.State)))
                {
                    long age = Math.Max(0, milliseconds - Volatile.Read(ref record.RentedAtMilliseconds));
                    long bytes = Volatile.Read(ref record.AllocationBytes);
                    longest = Math.Max(longest, age);
                    known++;
                    sizes[bytes <= 4 * Megabyte ? 0 : bytes <= 16 * Megabyte ? 1 : bytes <= 64 * Megabyte ? 2 : 3]++;
                    ages[age < 1000 ? 0 : age < 60_000 ? 1 : age < 3_600_000 ? 2 : 3]++;
                }
            }
        }

        Line("- by size", $"{sizes[0]} of up to 4 MiB, {sizes[1]} to 16, {sizes[2]} to 64, {sizes[3]} larger");
        Line("- by age", $"{ages[0]} for less than 1 s, {ages[1]} to 1 min, {ages[2]} to 1 h, {ages[3]} longer"
            + (known == 0 ? "" : $"; the oldest for {Ago(longest)}"));
        Line("- unknown", Invariant($"{Math.Max(0, now.OutstandingAllocations - known):N0} in arrays or mappings, which are not listed; ")
            + $"{nameof(MemoryDiagnostics)}.{nameof(MemoryDiagnostics.BeginScope)} lists later allocations");
    }

    private void WriteTrim(TrimReason reason, string when)
    {
        long times = counters[UsageFigure.Trims + (int)reason];
        Line(reason == TrimReason.Period ? "trimmed" : "", times == 0
            ? $"{when}: never"
            : Invariant($"{when}: {times:N0} times, {Bytes(counters[UsageFigure.TrimmedBytes + (int)reason])}, ")
                + $"the last {Ago(Environment.TickCount64 - counters.LastTrimMilliseconds(reason))} ago");
    }
}
