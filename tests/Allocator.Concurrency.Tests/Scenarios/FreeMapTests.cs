using Xunit.Abstractions;
using static Allocator.Concurrency.Scenarios.FreeMapScenario;

namespace Allocator.Concurrency.Scenarios;

public sealed class FreeMapTests : Exploring
{
    public FreeMapTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Claim_SinglesByThreeThreads_GoToOneThreadEach() =>
        ExpectNoFailure(static () => new FreeMapScenario(2, 2, Single, Single, Single));

    [Fact]
    public void Claim_ColdSingles_GetMemoryOnce() => ExpectNoFailure(static () => new FreeMapScenario(2, 0, ColdSingle, ColdSingle));

    [Fact]
    public void Claim_RunBesideSingles_IsWhole() => ExpectNoFailure(static () => new FreeMapScenario(3, 3, Pair, Single));

    [Fact]
    public void Claim_ManyBesideARun_AreDistinct() => ExpectNoFailure(static () => new FreeMapScenario(3, 3, Many, Pair));

    [Fact]
    public void TakeReady_BesideAPurge_HasMemory() => ExpectNoFailure(static () => new FreeMapScenario(2, 2, ReadyPair, Purge));

    [Fact]
    public void TakeReady_BesideAnother_IsDistinct() => ExpectNoFailure(static () => new FreeMapScenario(3, 3, ReadyPair, ReadyPair));

    [Fact]
    public void TakeReady_BesideTheEnd_IsNotHeldUp() => ExpectNoFailure(static () => new FreeMapScenario(2, 2, ReadyPair, Close, Close));

    [Fact]
    public void Purge_BesideARenter_TakesNoMemoryInUse() => ExpectNoFailure(static () => new FreeMapScenario(2, 2, Purge, Single));

    [Fact]
    public void Purge_TwoAtOnce_TakeEachBlockOnce() => ExpectNoFailure(static () => new FreeMapScenario(2, 2, Purge, Purge));

    [Fact]
    public void ReleaseAll_BesideRenters_HappensOnceAndForGood() =>
        ExpectNoFailure(static () => new FreeMapScenario(2, 2, Close, Close, Single));

    [Fact]
    public void Claim_ReadThenWriteInPlaceOfCompareExchange_IsFound() =>
        ExpectFailure(
            new Weakness("BlockArena.TryClaim", "CompareExchange", WeaknessKind.ComparesNothing), "Nothing orders",
            static () => new FreeMapScenario(2, 2, Single, Pair));

    [Fact]
    public void Release_ThatOrdersNothing_IsFound() =>
        ExpectFailure(
            new Weakness("BlockArena.Return", "Or", WeaknessKind.OrdersNothing), "Nothing orders",
            static () => new FreeMapScenario(1, 1, Single, Single));

    [Fact]
    public void Claim_ThatOrdersNothing_IsFound() =>
        ExpectFailure(
            new Weakness("BlockArena.TryClaim", "CompareExchange", WeaknessKind.OrdersNothing), "Nothing orders",
            static () => new FreeMapScenario(1, 1, Single, Single));

    [Fact]
    public void Claim_ReadThenWriteBesideAPurge_IsFound() =>
        ExpectFailure(
            new Weakness("BlockArena.TryClaim", "CompareExchange", WeaknessKind.ComparesNothing), "is in two hands",
            static () => new FreeMapScenario(1, 1, Single, Purge));
}
