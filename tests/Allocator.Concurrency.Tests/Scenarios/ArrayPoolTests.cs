using Xunit.Abstractions;
using static Allocator.Concurrency.Scenarios.ArrayPoolScenario;

namespace Allocator.Concurrency.Scenarios;

public sealed class ArrayPoolTests : Exploring
{
    public ArrayPoolTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Return_WhileThePoolIsClosed_LeavesNothing() => ExpectNoFailure(static () => new ArrayPoolScenario(Return, Close));

    [Fact]
    public void Return_WhileAnotherRents_LosesNothing() => ExpectNoFailure(static () => new ArrayPoolScenario(Return, RentAndReturn));

    [Fact]
    public void Return_WhileAnotherTrims_LosesNothing() => ExpectNoFailure(static () => new ArrayPoolScenario(Return, Trim));
}
