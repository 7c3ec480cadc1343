namespace Allocator.Tests.Allocators;

public class AllocatorDescriptionTests
{
    [Fact]
    public void DescribeMemory_BudgetedAllocatorInUse_ShowsFiguresAndTheirOrigin()
    {
        using TestSetup setup = new(
            options: new MemoryAllocatorOptions { Name = "scans", BudgetTimeout = TimeSpan.FromSeconds(5), AllocationLimitMegabytes = 1 },
            budget: 64 << 20,
            left: new FakeHeadroom { Now = new Headroom(512 << 20, 100 << 20, 90 << 20) });
        using IDisposable mapping = setup.Allocator.Allocate<byte>(20 * TestSetup.BlockSize);
        using IDisposable old = setup.Allocator.Allocate<byte>(TestSetup.BlockSize);
        setup.Clock.Advance(TimeSpan.FromMinutes(2));
        using IDisposable young = setup.Allocator.Allocate<byte>(3 * TestSetup.BlockSize);
        setup.Allocator.Allocate<byte>(TestSetup.BlockSize).Dispose();
        setup.Allocator.ReleaseRetainedResources();

        Dictionary<string, string> lines = Parse(setup.Allocator.DescribeMemory());

        Assert.Equal("MemoryAllocator scans, Standard mode", lines["first"]);
        Assert.Equal("keeps up to 0.25 MiB in blocks of 0.02 MiB (by default, " + Option("MaximumPoolSizeMegabytes"), lines["pool"]);
        Assert.Equal("up to 1 MiB (MemoryAllocatorOptions.AllocationLimitMegabytes)", lines["one request"]);
        Assert.Equal("64 MiB, 0.38 MiB outstanding or reserved (MemoryAllocatorOptions.MemoryBudgetMegabytes)", lines["budget"]);
        Assert.StartsWith("0 requests now, 0 so far; synchronous calls wait up to 00:00:05", lines["waiting"], StringComparison.Ordinal);
        Assert.Equal(
            "89.94 MiB of 512 MiB left, honoured (MemoryAllocatorOptions.HonorMemoryLimit)", lines["hard limit"]);
        Assert.Contains("by Machine", lines["load"], StringComparison.Ordinal);
        Assert.Equal("3 allocations, 0.38 MiB", lines["outstanding"]);
        Assert.Equal("2 of up to 4 MiB, 0 to 16, 0 to 64, 0 larger", lines["- by size"]);
        Assert.Equal("1 for less than 1 s, 0 to 1 min, 1 to 1 h, 0 longer; the oldest for 2 min", lines["- by age"]);
        Assert.StartsWith("1 in arrays or mappings", lines["- unknown"], StringComparison.Ordinal);
        Assert.Contains("by a call: 1 times, 0.02 MiB, the last less than 1 s ago", lines["trimmed"], StringComparison.Ordinal);
        Assert.Contains("at high load: never", lines["trimmed"], StringComparison.Ordinal);
    }

    [Fact]
    public async Task DescribeMemory_RequestsThatWait_CountsThem()
    {
        using TestSetup setup = new(budget: 2 * TestSetup.BlockSize);
        MemoryReservation job = await setup.Allocator.ReserveAsync(2 * TestSetup.BlockSize);
        Task<MemoryReservation> waits = setup.Allocator.ReserveAsync(TestSetup.BlockSize).AsTask();
        Assert.StartsWith(
            "1 requests now, 1 so far", Parse(setup.Allocator.DescribeMemory())["waiting"], StringComparison.Ordinal);
        Assert.StartsWith($"{job}\nMemoryAllocator", job.DescribeMemory(), StringComparison.Ordinal);
        job.Dispose();
        (await waits).Dispose();
        Assert.StartsWith("0 requests now", Parse(setup.Allocator.DescribeMemory())["waiting"], StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(SafetyMode.Standard)]
    [InlineData(SafetyMode.Guarded)]
    public void DescribeMemory_RealAllocatorOfAnyKind_IsAboutTwentyLinesEvenAfterDispose(SafetyMode safety)
    {
        foreach (MemoryAllocatorOptions options in (MemoryAllocatorOptions[])
            [
                new() { Safety = safety },
                new() { Safety = safety, MemoryBudgetMegabytes = 100, MinimumFreeMegabytes = 1, TrimNativeHeap = true },
            ])
        {
            MemoryAllocator allocator = MemoryAllocator.Create(options);
            IDisposable owner = allocator.Allocate<byte>(3 << 20);
            string text = allocator.DescribeMemory();
            Assert.InRange(text.Split('\n').Length, 18, 25);
            Assert.All(text.Split('\n'), static line => Assert.InRange(line.Length, 10, 250));
            Assert.Equal("1 allocations", Parse(text)["outstanding"].Split(',')[0]);
            allocator.Dispose();
            Assert.Contains("disposed", Parse(allocator.DescribeMemory())["first"], StringComparison.Ordinal);
            owner.Dispose();
            Assert.Equal("0 allocations, 0 MiB", Parse(allocator.DescribeMemory())["outstanding"]);
            Assert.NotEmpty(allocator.ToString());
        }
    }

    [Fact]
    public void DescribeMemory_SystemCannotBeRead_HasTheLastFigures()
    {
        FakeHeadroom left = new() { Now = new Headroom(4 << 20, 1 << 20, 1 << 20) };
        using TestSetup setup = new(budget: 1 << 20, left: left);
        left.OnRead = static () => throw new System.IO.IOException();
        setup.Clock.Advance(TimeSpan.FromSeconds(2));
        Dictionary<string, string> lines = Parse(setup.Allocator.DescribeMemory());
        Assert.StartsWith("1 MiB of 4 MiB left", lines["hard limit"], StringComparison.Ordinal);
        Assert.Contains("outstanding", lines.Keys);
    }

    // Other threads rent, return, trim and dispose meanwhile.
    [Fact]
    public void DescribeMemory_WhileOthersWork_NeverFails()
    {
        using TestSetup setup = new(budget: 100 * TestSetup.BlockSize);
        Parallel.For(0, 400, i =>
        {
            if (i == 300)
            {
                setup.Allocator.Dispose();
            }

            try
            {
                using IDisposable owner = setup.Allocator.Allocate<byte>(i * 100);
                Assert.Contains("outstanding", setup.Allocator.DescribeMemory(), StringComparison.Ordinal);
            }
            catch (ObjectDisposedException)
            {
                // Of the request.
                Assert.Contains("outstanding", setup.Allocator.DescribeMemory(), StringComparison.Ordinal);
            }
        });
    }

    private static string Option(string name) => $"MemoryAllocatorOptions.{name}, at most the budget)";

    // Lines without a title go on with the one before.
    private static Dictionary<string, string> Parse(string text)
    {
        string[] lines = text.Split('\n');
        string first = lines.First(static line => line.StartsWith("MemoryAllocator ", StringComparison.Ordinal));
        Dictionary<string, string> parsed = new() { ["first"] = first };
        string title = "first";
        foreach (string line in lines.SkipWhile(static line => !line.StartsWith("  ", StringComparison.Ordinal)))
        {
            string own = line.Substring(2, 13).Trim();
            title = own.Length > 0 ? own : title;
            parsed[title] = (own.Length > 0 ? "" : parsed[title] + "\n") + line.Substring(15);
        }

        return parsed;
    }
}
