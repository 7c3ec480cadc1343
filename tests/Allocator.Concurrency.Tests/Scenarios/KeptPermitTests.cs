using Xunit.Abstractions;

namespace Allocator.Concurrency.Scenarios;

public sealed class KeptPermitTests : Exploring
{
    private static readonly Weakness s_noFence = new("ProcessBarrier.Flush", "MemoryBarrierProcessWide", WeaknessKind.OrdersNothing);
    private static readonly Weakness s_noLook = new("BudgetQueue.Count", "Read", WeaknessKind.ReadsDefault);

    public KeptPermitTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Return_WhileARequestBeginsToWait_ServesIt() => ExpectNoFailure(static () => new KeptPermitScenario(1).Returns().Waits());

    [Fact]
    public void ReturnAndRent_WhileARequestBeginsToWait_ServesEither() =>
        ExpectNoFailure(static () => new KeptPermitScenario(1).ReturnsAndRents().Waits());

    [Fact]
    public void ReturnAndRent_WhileARequestMayNotWait_RefusesItOnlyWhereTheBlockIsHeld() =>
        ExpectNoFailure(static () => new KeptPermitScenario(1).ReturnsAndRents().Asks());

    [Fact]
    public void Return_BeforeARequestThatMayNotWait_IsRoomForIt() =>
        ExpectNoFailure(static () => new KeptPermitScenario(1).Returns().Asks());

    [Fact]
    public void Return_WhileASecondBeginsToWait_ServesOneAndThenTheOther() =>
        ExpectNoFailure(static () => new KeptPermitScenario(1).HasWaiter().Returns().Waits());

    [Fact]
    public void Return_WhileOneWaitsAndAnotherMayNot_LosesNothing() =>
        ExpectNoFailure(static () => new KeptPermitScenario(1).HasWaiter().Returns().Asks());

    [Fact]
    public void Wait_OfTwoBesideAPermitThatWasKept_ServesOneAndThenTheOther() =>
        ExpectNoFailure(static () => new KeptPermitScenario(1).Keeps().Waits().Waits());

    [Fact]
    public void Ask_WhileAnotherDrains_IsNotRefused() => ExpectNoFailure(static () => new KeptPermitScenario(1).Keeps().Drains().Asks());

    [Fact]
    public void Return_WhileAReservationGrows_IsRoomForIt() =>
        ExpectNoFailure(static () => new KeptPermitScenario(1, 1).Returns().Grows());

    [Fact]
    public void Drain_BesideAReturn_ReturnsEachPermitOnce() =>
        ExpectNoFailure(static () => new KeptPermitScenario(1).Returns().Drains());

    [Fact]
    public void Drain_BesideAReturnAndARent_ReturnsEachPermitOnce() =>
        ExpectNoFailure(static () => new KeptPermitScenario(1).ReturnsAndRents().Drains());

    [Fact]
    public void Rent_OfAReservationBesideAReturnToTheBudget_ReturnsWhatWasKept() =>
        ExpectNoFailure(static () => new KeptPermitScenario(1, 1).Returns().RentsReserved());

    [Fact]
    public void Close_WhileARequestDrains_LeavesNothing() =>
        ExpectNoFailure(static () => new KeptPermitScenario(1).Keeps().Drains().Closes());

    [Fact]
    public void Close_WhileABlockComesBackAndKeepsItsPermit_LeavesNothing() =>
        ExpectNoFailure(static () => new KeptPermitScenario(1).Returns().Closes());

    [Fact]
    public void Wait_WithoutItsFence_IsFound() =>
        ExpectFailure(s_noFence, "beside idle memory", static () => new KeptPermitScenario(1).Returns().Waits());

    [Fact]
    public void Grow_WithoutItsFence_IsFound() =>
        ExpectFailure(s_noFence, "beside idle memory", static () => new KeptPermitScenario(1, 1).Returns().Grows());

    [Fact]
    public void Return_ThatDoesNotLookForWaiters_IsFound() =>
        ExpectFailure(s_noLook, "beside idle memory", static () => new KeptPermitScenario(1).Returns().Waits());

    [Fact]
    public void Return_ThatDoesNotLookForASecondWaiter_IsFound() =>
        ExpectFailure(s_noLook, "A request waits", static () => new KeptPermitScenario(1).HasWaiter().Returns().Waits());

    [Fact]
    public void Ask_WithoutItsFence_IsFound() =>
        ExpectFailure(s_noFence, "beside idle memory", static () => new KeptPermitScenario(1).Returns().Asks());

    [Fact]
    public void Drain_ThatDoesNotCompare_IsFound() =>
        ExpectFailure(
            new Weakness("BlockRecord.TryLeaveCache", "CompareExchange", WeaknessKind.ComparesNothing), "",
            static () => new KeptPermitScenario(1).ReturnsAndRents().Drains());

    [Fact]
    public void Drain_ThatDoesNotLookWhetherThePoolIsClosed_IsFound() =>
        ExpectFailure(
            new Weakness("UniformUnmanagedMemoryPool.IsClosed", "Read", WeaknessKind.ReadsDefault), "Assert.Equal() Failure",
            static () => new KeptPermitScenario(1).Keeps().Drains().Closes());
}
