using Xunit.Abstractions;
using static Allocator.Concurrency.Scenarios.ThreadCacheScenario;

namespace Allocator.Concurrency.Scenarios;

public sealed class ThreadCacheTests : Exploring
{
    public ThreadCacheTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Rent_ThatTakesCountsOverWhileAnotherAddsUp_IsCountedOnce() =>
        ExpectNoFailure(static () => new ThreadCacheScenario(Rents, AddsUp));

    [Fact]
    public void Rent_OfTwoThatTakeCountsOver_TakesThemOnce() =>
        ExpectNoFailure(static () => new ThreadCacheScenario(Rents, Rents, AddsUp));

    [Fact]
    public void Return_WhileAnotherTakesCountsOver_LosesNothing() =>
        ExpectNoFailure(static () => new ThreadCacheScenario(Rents, Returns, AddsUp));

    [Fact]
    public void Rent_ThatDoesNotAddWhatItTakesOver_IsFound() =>
        ExpectFailure(
            new Weakness("ArraySource.MoveTo", "Add", WeaknessKind.Resets), "Failure",
            static () => new ThreadCacheScenario(Rents, AddsUp));
}
