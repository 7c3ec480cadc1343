using System.Diagnostics;
using System.Globalization;
using Allocator;
using Allocator.Diagnostics;

namespace PlatformSmoke.Linux;

/// <summary>
/// What the library makes of real control groups of version 2. <c>tests/platforms</c> makes them, and starts this in one.
/// </summary>
internal static class Container
{
    private const long Megabyte = 1 << 20;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(8);

    public static void Run(Checks checks, string[] arguments)
    {
        string[] rest = arguments[1..];
        Action check = arguments[0] switch
        {
            "load" => () => Load(Enum.Parse<MemoryLoadSource>(rest[0]), rest[1], Number(rest[2]) * Megabyte),
            "trim" => () => Trim(Number(rest[0]), isHigh: rest.Contains("high"), keeps: rest.Contains("keep")),
            "lower" => () => Lower(rest[0]),
            "huge" => Huge,
            "burst" => () => Burst((int)Number(rest[0])).GetAwaiter().GetResult(),
            "throttle" => () => Throttle((int)Number(rest[0])),
            _ => () => Checks.That(false, $"a command, not {arguments[0]}"),
        };
        checks.Run($"container: {string.Join(" ", arguments)}", check);
    }

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);

    // Source, origin and total as expected; what is used as the kernel says.
    private static void Load(MemoryLoadSource source, string origin, long totalBytes)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using IMemoryOwner<byte> held = allocator.Allocate<byte>(40 << 20);
        held.Memory.Span.Fill(1);
        MemoryLoad load = allocator.GetMemoryLoad();
        Console.WriteLine($"   {load}");
        Checks.That(load.Source == source && load.Origin == origin, $"{source} {origin}");
        Checks.That(totalBytes == 0 || load.TotalBytes == totalBytes, $"{totalBytes} bytes in all");
        Checks.That((load.StalledPercent is not null) == File.Exists("/proc/pressure/memory"), "stalls where the kernel tells them");
        if (source == MemoryLoadSource.ControlGroup)
        {
            long used = ControlGroupFiles.ReadNumber(origin + "/memory.current") - ControlGroupFiles.ReadFigure(origin, "inactive_file");
            Checks.That(Math.Abs(load.UsedBytes - used) < 4 * Megabyte, $"{used >> 20} MB used, as the kernel says");
        }
    }

    // Memory of that size that becomes idle, and what the timer does with it.
    private static void Trim(long megabytes, bool isHigh, bool keeps)
    {
        using MemoryAllocator allocator = CreateSlowlyTrimming((int)megabytes, keeps);
        long before;
        MemoryLoad load;
        using (Fill(allocator, megabytes))
        {
            // While it is rented: once idle it may be gone at any time.
            before = ControlGroupFiles.ChargedBytes;
            load = allocator.GetMemoryLoad();
        }

        Checks.That(load.IsHigh == isHigh, $"a load that is {(isHigh ? "" : "not ")}high: {load}");
        AwaitNothingRetained(allocator);
        long retained = allocator.GetStatistics().RetainedBytes;
        long fell = before - ControlGroupFiles.ChargedBytes;
        Console.WriteLine($"   {retained >> 20} of {megabytes} MB retained, the charge fell by {fell >> 20}");
        bool goes = isHigh && !keeps;
        Checks.That(
            goes ? retained == 0 && fell > (megabytes - 8) * Megabyte : retained > (megabytes - 32) * Megabyte,
            goes ? "all goes, and the charge falls by as much" : "it stays");
    }

    // The limit falls while the process runs.
    private static void Lower(string limited)
    {
        using MemoryAllocator allocator = CreateSlowlyTrimming(128, keeps: false);
        long limit;
        MemoryLoad load;
        using (Fill(allocator, 128))
        {
            limit = allocator.GetMemoryLoad().UsedBytes / 100 * 106 / 4096 * 4096;
            File.WriteAllText(limited + "/memory.max", limit.ToString(CultureInfo.InvariantCulture));
            load = allocator.GetMemoryLoad();
        }

        Checks.That(load.TotalBytes == limit && load.IsHigh, $"the lower limit, {limit}: {load}");
        AwaitNothingRetained(allocator);
        Checks.That(allocator.GetStatistics().RetainedBytes == 0, "all goes");
    }

    private static void Huge()
    {
        foreach (HugePages pages in (HugePages[])[HugePages.Auto, HugePages.Off])
        {
            using MemoryAllocator allocator =
                MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 64, HugePages = pages });
            long before = ControlGroupFiles.ReadFigure(ControlGroupFiles.Own, "anon_thp");
            Fill(allocator, 64).Dispose();
            long huge = ControlGroupFiles.ReadFigure(ControlGroupFiles.Own, "anon_thp") - before;
            Console.WriteLine($"   {pages}: {huge >> 20} of 64 MB in huge pages");
            Checks.That(pages == HugePages.Auto ? huge >= 56 * Megabyte : huge <= 2 * Megabyte, $"{pages}: {huge >> 20} MB in huge pages");
        }

        // Guard pages and huge pages together.
        using MemoryAllocator guarded = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
        long start = ControlGroupFiles.ChargedBytes;
        for (int i = 0; i < 40; i++)
        {
            using IMemoryOwner<byte> owner = guarded.Allocate<byte>(3_000_000);
            owner.Memory.Span.Fill(1);
        }

        guarded.ReleaseRetainedResources();
        long left = ControlGroupFiles.ChargedBytes - start;
        Checks.That(left < 16 * Megabyte, $"guarded buffers are gone: {left >> 20} MB more than before");
    }

    // Jobs that need 40 MB each, 16 at once, 3 times over; with a budget, the charge stays below it and the runtime.
    private static async Task Burst(int budgetMegabytes)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = budgetMegabytes, MemoryBudgetMegabytes = budgetMegabytes });
        await Task.WhenAll(Enumerable.Range(1, 16).Select(number => Task.Run(async () =>
        {
            for (int i = 0; i < 3; i++)
            {
                await CopyPicture(allocator, number);
            }
        })));
        MemoryAllocatorStatistics end = allocator.GetStatistics();
        Console.WriteLine($"   {end}");
        Checks.That(end.BudgetWaits > 0 && end.PeakCommittedBytes <= budgetMegabytes * Megabyte, "waits, and a peak within the budget");
    }

    private static async Task CopyPicture(MemoryAllocator allocator, int number)
    {
        using MemoryReservation job =
            await allocator.ReserveAsync(allocator.EstimatePixelBytes(2500, 2000, sizeof(int), liveCopies: 2));
        using PixelBuffer<int> picture = job.AllocatePixels<int>(2500, 2000);
        for (int y = 0; y < picture.Height; y++)
        {
            picture.DangerousGetRowSpan(y).Fill(number);
        }

        using PixelBuffer<int> copy = job.AllocatePixels<int>(2500, 2000);
        picture.CopyTo(copy);

        // Longer than the processors' turns, so that jobs meet.
        await Task.Delay(100);
        Checks.That(Pattern.IsAll(copy.DangerousGetRowSpan(1999), number), "its own pixels");
    }

    // More in use than memory.high allows: the kernel slows the process down, and the load is high.
    private static void Throttle(int megabytes)
    {
        using MemoryAllocator allocator = CreateSlowlyTrimming(megabytes, keeps: false);
        Stopwatch elapsed = Stopwatch.StartNew();
        List<IMemoryOwner<byte>> held = [];
        for (int i = 0; i < megabytes / 4 && elapsed.Elapsed.TotalSeconds < 40; i++)
        {
            held.Add(allocator.Allocate<byte>(4 << 20));
            held[^1].Memory.Span.Fill(1);
        }

        MemoryLoad load = allocator.GetMemoryLoad();
        Console.WriteLine($"   {held.Count * 4} MB in use: {load}");
        Checks.That(load.IsHigh, "a load that is high above memory.high");
        held.ForEach(static owner => owner.Dispose());
        AwaitNothingRetained(allocator);
        Checks.That(allocator.GetStatistics().RetainedBytes == 0, "all that is idle goes");
    }

    private static MemoryAllocator CreateSlowlyTrimming(int megabytes, bool keeps) => MemoryAllocator.Create(new MemoryAllocatorOptions
    {
        MaximumPoolSizeMegabytes = megabytes,
        TrimPeriod = TimeSpan.FromSeconds(2),
        TrimRate = 0.01,
        KeepBlocks = keeps,
    });

    private static MemoryGroup<byte> Fill(MemoryAllocator allocator, long megabytes)
    {
        MemoryGroup<byte> group = allocator.AllocateGroup<byte>(megabytes * Megabyte);
        group.Fill(1);
        return group;
    }

    private static void AwaitNothingRetained(MemoryAllocator allocator)
    {
        Stopwatch waited = Stopwatch.StartNew();
        using ManualResetEventSlim never = new();
        while (waited.Elapsed < s_patience && allocator.GetStatistics().RetainedBytes > 0)
        {
            never.Wait(50);
        }
    }
}
