using System.Net.Sockets;
using Allocator;
using Allocator.Diagnostics;

namespace PlatformSmoke.Linux;

/// <summary>
/// In a chiselled, read-only container with a limit, as <c>tests/platforms/confined.sh</c> makes one: that it is such a container, and
/// that limits are read and kept all the same.
/// </summary>
internal static class Confined
{
    private const long Megabyte = 1 << 20;
    private const int LengthInBytes = 4 << 20;
    private const int VSock = 40;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    public static void Run(Checks checks, long limitMegabytes)
    {
        long limit = limitMegabytes * Megabyte;
        checks.Run("confined: a user without rights, behind a filter", IsConfined);
        checks.Run("confined: nothing can be written", NothingIsWritable);
        checks.Run("confined: the container's limit is read", () => IsRead(limit));
        checks.Run("confined: a guarded allocator works without its record file", WithoutRecordFile);
        checks.Run("confined: at 90 % all that is idle goes", () => IdleGoes(limit));
        checks.Run("confined: by default it is refused, not killed", () => IsRefused(limit));
        checks.Run("confined: with a budget all is done", () => WithABudget(limit).GetAwaiter().GetResult());
    }

    private static void IsConfined()
    {
        Dictionary<string, string> status = File.ReadLines("/proc/self/status")
            .Select(static line => line.Split(':', 2)).ToDictionary(static parts => parts[0], static parts => parts[1].Trim());
        Checks.That(status["Uid"].StartsWith("10001\t", StringComparison.Ordinal), $"user 10001, not {status["Uid"]}");
        Checks.That(Convert.ToUInt64(status["CapBnd"], 16) == 0 && Convert.ToUInt64(status["CapEff"], 16) == 0, "no capability");
        Checks.That(status["Seccomp"] == "2" && status["NoNewPrivs"] == "1", "a filter, and no new privileges");
        Checks.That(Environment.ProcessId == 1, "the first process");
        Checks.Throws<SocketException>(static () => new Socket((AddressFamily)VSock, SocketType.Stream, 0).Dispose());
    }

    private static void NothingIsWritable()
    {
        foreach (string folder in (string[])["/", Path.GetTempPath(), AppContext.BaseDirectory, "/dev", "/dev/shm", "/sys/fs/cgroup"])
        {
            bool isRefused = false;
            try
            {
                File.WriteAllText(Path.Combine(folder, "written"), "");
            }
            catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
            {
                isRefused = true;
            }

            Checks.That(isRefused, $"{folder} cannot be written to");
        }
    }

    private static void IsRead(long limit)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        MemoryLoad load = allocator.GetMemoryLoad();
        Console.WriteLine($"   {load}");
        Checks.That(load.Source == MemoryLoadSource.ControlGroup && load.TotalBytes == limit, $"a limit of {limit >> 20} MB");
        Checks.That(load.UsedBytes > 0 && load.UsedBytes < limit, "what is used");
    }

    private static void WithoutRecordFile()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
        using IMemoryOwner<byte> owner = allocator.Allocate<byte>(LengthInBytes);
        owner.Memory.Span.Fill(1);
        Checks.That(AllocationRecords.CurrentPath is null, "no record file");
    }

    private static void IdleGoes(long limit)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MaximumPoolSizeMegabytes = (int)(limit >> 20),
            TrimPeriod = TimeSpan.FromSeconds(2),
            TrimRate = 0.01,
        });
        List<IMemoryOwner<byte>> held = [];
        while (!allocator.GetMemoryLoad().IsHigh)
        {
            held.Add(allocator.Allocate<byte>(LengthInBytes));
            held[^1].Memory.Span.Fill(1);
        }

        held.ForEach(static owner => owner.Dispose());
        SpinWait.SpinUntil(() => allocator.GetStatistics().RetainedBytes == 0, s_patience);
        Checks.That(allocator.GetStatistics().RetainedBytes == 0 && !allocator.GetMemoryLoad().IsHigh, "all that is idle goes");
    }

    // All that is granted is written to.
    private static void IsRefused(long limit)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        List<IMemoryOwner<byte>> held = [];
        MemoryLimitExceededException? refusal = null;
        while (refusal is null && held.Count * (long)LengthInBytes < 2 * limit)
        {
            try
            {
                held.Add(allocator.Allocate<byte>(LengthInBytes));
                held[^1].Memory.Span.Fill(1);
            }
            catch (MemoryLimitExceededException exception)
            {
                refusal = exception;
            }
        }

        Console.WriteLine($"   {held.Count * 4} of {limit >> 20} MB; {refusal?.Message}");
        Checks.That(refusal?.LimitBytes == limit && held.Count * (long)LengthInBytes > limit / 2, "a refusal that names the limit");
        held.ForEach(static owner => owner.Dispose());
        allocator.Allocate<byte>(LengthInBytes).Dispose();
    }

    // Needs four times the limit at once.
    private static async Task WithABudget(long limit)
    {
        int budget = (int)(limit >> 20) / 2;
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = budget, MemoryBudgetMegabytes = budget });
        await Task.WhenAll(Enumerable.Range(0, 64).Select(number => Task.Run(async () =>
        {
            using IMemoryOwner<byte> owner = await allocator.AllocateAsync<byte>((int)(limit / 16));
            owner.Memory.Span.Fill((byte)number);
            await Task.Yield();
            Checks.That(Pattern.IsAll(owner.Memory.Span, (byte)number), "its own bytes");
        })));
        MemoryAllocatorStatistics end = allocator.GetStatistics();
        Console.WriteLine($"   {end.BudgetWaits} waits, peak {end.PeakCommittedBytes >> 20} MB");
        Checks.That(end.BudgetWaits > 0 && end.PeakCommittedBytes <= budget * Megabyte, "waits, and a peak within the budget");
    }
}
