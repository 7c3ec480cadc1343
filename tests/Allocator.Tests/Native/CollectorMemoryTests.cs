namespace Allocator.Tests.Native;

public class CollectorMemoryTests
{
    // In a container of 1,000 the GC may use 750, and calls 900 of all that is used there a high load.
    [Theory]
    [InlineData(700, 750, 900, false, 900)]
    [InlineData(899, 750, 900, false, 900)]
    [InlineData(900, 750, 900, true, 900)]
    [InlineData(899, 1000, 900, false, 1000)]
    [InlineData(900, 1000, 900, true, 1000)]
    [InlineData(500, 100, 900, false, 900)]
    public void TryJudge_HardLimitOfTheHeap_IsNotTakenForAllMemory(
        long used, long available, long high, bool expected, long total)
    {
        MemoryLoad load = SystemMemory.TryJudgeCollector(used, available, high)!.Value;

        Assert.Equal((expected, total), (load.IsHigh, load.TotalBytes));
    }

    [Theory]
    [InlineData(0, 0, 0)]
    [InlineData(5, 10, 0)]
    [InlineData(-5, 10, 9)]
    public void TryJudge_NoFigures_GivesNothing(long used, long available, long high) =>
        Assert.Null(SystemMemory.TryJudgeCollector(used, available, high));

    // It was taken for it: on Windows, and where Linux tells nothing, load was then high at every tick, since what the whole machine uses
    // was held against it.
    [SkippableFact]
    public void TryRead_ProcessWithAHardLimit_ReportsMoreThanThat()
    {
        Skip.If(SystemMemory.TryReadCollector() is null, "The asset for netstandard2.0 has no figures of the GC.");
        RemoteInvokeOptions options = new() { Environment = { ["DOTNET_GCHeapHardLimit"] = "0x8000000" } };
        RemoteExecutor.Invoke(
            static () =>
            {
                const long HardLimit = 0x8000000;
                Assert.Equal(HardLimit, SystemMemory.TryReadCollectorLimit());
                Assert.InRange(SystemMemory.TryReadCollector()!.Value.TotalBytes, HardLimit + 1, long.MaxValue);
                Assert.Equal(MemoryLoadSource.Collector, new LinuxSystemMemory(static _ => null).ReadLoad().Source);
            },
            options).Dispose();
    }
}
