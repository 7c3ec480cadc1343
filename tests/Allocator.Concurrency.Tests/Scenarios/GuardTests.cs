using Allocator.Lifetime;
using Xunit.Abstractions;
using static Allocator.Concurrency.Scenarios.GuardScenario;

namespace Allocator.Concurrency.Scenarios;

public sealed class GuardTests : Exploring
{
    public GuardTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Dispose_ByThreeThreads_ReturnsOnce() => ExpectNoFailure(static () => new GuardScenario(Dispose, Dispose, DisposeTwice));

    [Fact]
    public void Dispose_WhilePinned_WaitsForTheLastUnpin() =>
        ExpectNoFailure(static () => new GuardScenario(Dispose, PinAndUnpin, PinAndUnpin));

    [Fact]
    public void Dispose_WhilePinnedOnce_WaitsForTheUnpin() => ExpectNoFailure(static () => new GuardScenario(Dispose, PinAndUnpin));

    [Fact]
    public void Unpin_OnceTooOften_TakesNoReferenceOfTheOwner() =>
        ExpectNoFailure(static () => new GuardScenario(Dispose, UnpinOnceTooOften));

    [Fact]
    public void Dispose_OfAnEndedRent_DoesNothingToTheNext() =>
        ExpectNoFailure(static () => new GuardScenario(DisposeAndRentAgain, DisposeTwice));

    [Fact]
    public void Pin_OfAnEndedRent_DoesNothingToTheNext() =>
        ExpectNoFailure(static () => new GuardScenario(DisposeAndRentAgain, PinAndUnpin, Dispose));

    [Fact]
    public void Look_AtAnEndedRent_NeverFindsTheNext() => ExpectNoFailure(static () => new GuardScenario(DisposeAndRentAgain, Look));

    [Fact]
    public void Look_ThatDoesNotReadTheAddressBeforeTheState_IsFound() =>
        ExpectFailure(
            new Weakness("LifetimeGuard.Address", "Read", WeaknessKind.OrdersNothing), "Nothing orders",
            static () => new GuardScenario(DisposeAndRentAgain, Look));

    [Fact]
    public void Dispose_WithoutAGenerationCheck_IsFound() =>
        ExpectFailure(
            new Weakness("LifetimeGuard.Dispose", "CompareExchange", WeaknessKind.ComparesBits, RentState.References),
            "Memory was given back twice, or in use",
            static () => new GuardScenario(DisposeAndRentAgain, Dispose));

    [Fact]
    public void Dispose_ReadThenWriteInPlaceOfCompareExchange_IsFound() =>
        ExpectFailure(
            new Weakness("LifetimeGuard.DisposeSlow", "CompareExchange", WeaknessKind.ComparesNothing), "Memory",
            static () => new GuardScenario(Dispose, PinAndUnpin, PinAndUnpin));

    [Fact]
    public void Pin_ReadThenWriteInPlaceOfCompareExchange_IsFound() =>
        ExpectFailure(
            new Weakness("LifetimeGuard.TryAddReference", "CompareExchange", WeaknessKind.ComparesNothing), "Memory",
            static () => new GuardScenario(Dispose, PinAndUnpin));
}
