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
    public void Put_OfABlockWhoseSlotAnotherTakes_LosesNeither() => ExpectNoFailure(static () => new SlotScenario(PutNamed, PutUnnamed));

    [Fact]
    public void Put_OfBothWhileAnotherDrains_LosesNeither() => ExpectNoFailure(static () => new SlotScenario(PutBoth, Drain));

    [Fact]
    public void Put_OfBothAtOnceWhileAnotherDrains_LosesNeither() =>
        ExpectNoFailure(static () => new SlotScenario(PutNamed, PutUnnamed, Drain));

    [Fact]
    public void Put_OfBothWhileAnotherRents_LosesNeither() => ExpectNoFailure(static () => new SlotScenario(PutBoth, RentIdle));

    [Fact]
    public void Put_OfBothWhileAnotherTrims_TakesNoMemoryInUse() => ExpectNoFailure(static () => new SlotScenario(PutBoth, TrimAll));
}
