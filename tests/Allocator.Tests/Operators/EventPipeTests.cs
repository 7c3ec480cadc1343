using System.Diagnostics.Tracing;
using System.Globalization;
using Microsoft.Diagnostics.NETCore.Client;

namespace Allocator.Tests.Operators;

/// <summary>What arrives outside of the process.</summary>
public class EventPipeTests
{
    private const int Block = 4 << 20;

    [Fact]
    public void Events_OfAnotherProcess_ArriveWithTheirPayload()
    {
        using WatchedProcess process = new(
            RemoteExecutor.Invoke(static () =>
            {
                using MemoryAllocator allocator = Create();
                WatchedProcess.WaitUntilWatched();
                WatchedProcess.RepeatWhileWatched(() =>
                {
                    allocator.Allocate<byte>(3_000_000).Dispose();
                    allocator.ReleaseRetainedResources();
                    using IMemoryOwner<byte> most = allocator.Allocate<byte>(32 << 20);
                    Assert.Throws<MemoryLimitExceededException>(() => allocator.Allocate<byte>(33 << 20));
                });
            }),
            new EventPipeProvider("Allocator", EventLevel.Verbose, 0xF));

        IReadOnlyDictionary<string, object> committed = process.Take("MemoryCommitted");
        IReadOnlyDictionary<string, object> rented = process.Take(
            "BufferRented", static values => (long)values["requestedBytes"] == 3_000_000);
        IReadOnlyDictionary<string, object> returned = process.Take(
            "BufferReturned", values => values["bufferId"].Equals(rented["bufferId"]));
        IReadOnlyDictionary<string, object> decommitted = process.Take("MemoryDecommitted");
        IReadOnlyDictionary<string, object> trimmed = process.Take("MemoryTrimmed");
        IReadOnlyDictionary<string, object> began = process.Take("BudgetWaitBegan");
        IReadOnlyDictionary<string, object> ended = process.Take("BudgetWaitEnded");

        Assert.All(
            [committed, rented, returned, decommitted, trimmed, began, ended],
            static values => Assert.Equal("photos", values["allocatorName"]));
        Assert.Equal((long)Block, committed["bytes"]);
        Assert.Equal(((long)Block, (long)Block), (rented["bytes"], returned["bytes"]));
        Assert.Equal((long)Block, decommitted["bytes"]);
        Assert.Equal(("Requested", "None"), (trimmed["reason"], trimmed["source"]));
        Assert.Equal((33L << 20, 64L << 20), (began["bytes"], began["limitBytes"]));
        Assert.Equal("GivenUp", ended["outcome"]);
    }

    [Fact]
    public void Metrics_OfAProcessWithoutAListener_BeginWithTheFirstOne()
    {
        // The first allocator is there, and the meter is not, when the session begins.
        using WatchedProcess process = new(
            RemoteExecutor.Invoke(static () =>
            {
                using MemoryAllocator allocator = Create();
                WatchedProcess.WaitUntilWatched();
                WatchedProcess.RepeatWhileWatched(() => allocator.Allocate<byte>(3_000_000).Dispose());
            }),
            new EventPipeProvider("Allocator", EventLevel.Informational, 0x2),
            WatchedProcess.Metrics);
        process.Take("MemoryCommitted");

        IReadOnlyDictionary<string, object> retained = process.Take(
            "UpDownCounterRateValuePublished", static values => Is(values, "allocator.memory.committed") && Number(values, "value") > 0);

        Assert.Equal(Block, Number(retained, "value"));
        IReadOnlyDictionary<string, object> rents = process.Take(
            "CounterRateValuePublished", static values => Is(values, "allocator.rents") && Number(values, "rate") > 0);
        Assert.Equal(("Allocator", "{rent}", "allocator.name=photos"), (rents["meterName"], rents["unit"], rents["tags"]));
    }

    private static MemoryAllocator Create() => MemoryAllocator.Create(
        new MemoryAllocatorOptions
        {
            Name = "photos",
            MaximumPoolSizeMegabytes = 16,
            MemoryBudgetMegabytes = 64,
            TrimPeriod = TimeSpan.FromHours(1),
        });

    private static bool Is(IReadOnlyDictionary<string, object> values, string instrument) =>
        (string)values["instrumentName"] == instrument;

    private static double Number(IReadOnlyDictionary<string, object> values, string name) =>
        values[name] is string { Length: > 0 } text ? double.Parse(text, CultureInfo.InvariantCulture) : 0;
}
