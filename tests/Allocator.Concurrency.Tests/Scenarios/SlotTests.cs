using Interleaving;
using Xunit;
using Xunit.Abstractions;
using static Allocator.Concurrency.Scenarios.SlotScenario;

namespace Allocator.Concurrency.Scenarios;

public sealed class SlotTests : Exploring
{
    public SlotTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Drain_WhileTheOwnerTakesAndPuts_LosesNothing() => ExpectNoFailure(static () => new SlotScenario(2, 2, Rent, Drain));

    [Fact]
    public void DrainOfSome_WhileTheOwnerTakesAndPuts_LosesNothing() => ExpectNoFailure(static () => new SlotScenario(1, 1, Rent, DrainByLooks));

    [Fact]
    public void Rent_OfTheOnlyBlockInAnothersSlots_GoesToOneOfThem() => ExpectNoFailure(static () => new SlotScenario(1, 1, Rent, Rent));

    [Fact]
    public void TrimAll_WhileTheOwnerTakesAndPuts_TakesNoMemoryInUse() => ExpectNoFailure(static () => new SlotScenario(1, 1, Rent, TrimAll));

    [Fact]
    public void Close_WhileTheOwnerTakesAndPuts_LeavesNothing() => ExpectNoFailure(static () => new SlotScenario(1, 1, Rent, Close));

    [Fact]
    public void Drain_WithoutTheFence_IsFound() =>
        ExpectFailure(
            new Weakness("ThreadSlotSet.Drain", "MemoryBarrierProcessWide", WeaknessKind.DoesNothing), "is in two hands",
            static () => new SlotScenario(1, 1, Rent, DrainByLooks));
}
