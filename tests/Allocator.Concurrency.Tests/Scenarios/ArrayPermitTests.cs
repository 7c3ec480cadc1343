using Xunit.Abstractions;

namespace Allocator.Concurrency.Scenarios;

public sealed class ArrayPermitTests : Exploring
{
    public ArrayPermitTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Return_WhileARequestBeginsToWait_ServesIt() =>
        ExpectNoFailure(static () => new ArrayPermitScenario(1).Returns().Waits());

    [Fact]
    public void ReturnAndRent_WhileARequestBeginsToWait_ServesEither() =>
        ExpectNoFailure(static () => new ArrayPermitScenario(1).Returns(rents: true).Waits());

    [Fact]
    public void Wait_OfTwoBesideAKeptPermit_ServesOneAndThenTheOther() =>
        ExpectNoFailure(static () => new ArrayPermitScenario(1).Keeps().Waits().Waits());

    [Fact]
    public void Rent_WhileAnotherRents_GivesTheArrayToOne() =>
        ExpectNoFailure(static () => new ArrayPermitScenario(1).Keeps().Rents().Rents());

    [Fact]
    public void Rent_OfAReservationWhileAnotherRents_LosesNoPermit() =>
        ExpectNoFailure(static () => new ArrayPermitScenario(1, 1).Keeps().Rents().Rents(ofReservation: true));

    [Fact]
    public void Rent_OfAReservationWhileAnotherReturns_LosesNoPermit() =>
        ExpectNoFailure(static () => new ArrayPermitScenario(1, 1).Returns().Rents(ofReservation: true));

    [Fact]
    public void Rent_WhileAnotherDrains_LosesNoPermit() =>
        ExpectNoFailure(static () => new ArrayPermitScenario(1).Keeps().Rents().Drains());

    [Fact]
    public void Return_WhileAnotherDrains_LosesNoPermit() =>
        ExpectNoFailure(static () => new ArrayPermitScenario(1).Returns(rents: true).Drains());

    [Fact]
    public void Return_WhileAnotherTrims_LosesNoPermit() =>
        ExpectNoFailure(static () => new ArrayPermitScenario(1).Returns(rents: true).Trims());

    [Fact]
    public void Drain_WhileThePoolIsClosed_LeavesNothing() =>
        ExpectNoFailure(static () => new ArrayPermitScenario(1).Keeps().Drains().Closes());

    [Fact]
    public void Return_WhileThePoolIsClosed_LeavesNothing() =>
        ExpectNoFailure(static () => new ArrayPermitScenario(1).Returns().Closes());

    [Fact]
    public void Return_ThatDoesNotLookForWaiters_IsFound() =>
        ExpectFailure(
            new Weakness("BudgetQueue.Count", "Read", WeaknessKind.ReadsDefault), "beside idle memory",
            static () => new ArrayPermitScenario(1).Returns().Waits());

    [Fact]
    public void Rent_ThatDoesNotCompare_IsFound() =>
        ExpectFailure(
            new Weakness("IdleArrays.TryTake", "CompareExchange", WeaknessKind.ComparesNothing), "",
            static () => new ArrayPermitScenario(1).Keeps().Rents().Rents());
}
