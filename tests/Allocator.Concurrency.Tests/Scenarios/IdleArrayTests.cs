using Xunit.Abstractions;

namespace Allocator.Concurrency.Scenarios;

public sealed class IdleArrayTests : Exploring
{
    public IdleArrayTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Rent_WhileARequestIsAdmitted_LeavesItTheArrayOrTheRefusal() =>
        ExpectNoFailure(static () => new IdleArrayScenario().Rents().IsAdmitted());

    [Fact]
    public void RentAndReturn_WhileARequestIsAdmitted_LosesNothing() =>
        ExpectNoFailure(static () => new IdleArrayScenario().RentsAndReturns().IsAdmitted());

    [Fact]
    public void Return_WhileARequestIsAdmitted_IsFoundByIt() =>
        ExpectNoFailure(static () => new IdleArrayScenario(isHeld: true).Returns().IsAdmitted());

    [Fact]
    public void Rent_OfTheOnlyArray_GoesToOneThread() => ExpectNoFailure(static () => new IdleArrayScenario().Rents().RentsAndReturns());

    [Fact]
    public void Rent_ThatFindsNoArray_WakesWhatBeganToWait() =>
        ExpectNoFailure(static () => new IdleArrayScenario().Trims().Rents().Waits());

    [Fact]
    public void RentAndReturn_WhileARequestBeginsToWait_ServesIt() =>
        ExpectNoFailure(static () => new IdleArrayScenario().RentsAndReturns().Waits());

    [Fact]
    public void Rent_WhileAnotherReturns_LosesNothing() =>
        ExpectNoFailure(static () => new IdleArrayScenario(isHeld: true).Returns().RentsAndReturns());

    [Fact]
    public void Rent_WhileAnotherTrims_ReturnsItsCharge() => ExpectNoFailure(static () => new IdleArrayScenario().Rents().Trims());

    [Fact]
    public void Return_WhileThePoolIsClosed_LeavesNothing() =>
        ExpectNoFailure(static () => new IdleArrayScenario().RentsAndReturns().Closes());
}
