namespace Allocator.Analyzers.Tests.Leaks;

public sealed class NeverDisposedTests
{
    // So tests say that an allocation fails.
    [Theory]
    [InlineData("() => A.Allocate<byte>(-1)")]
    [InlineData("() => { A.Allocate<byte>(-1); }")]
    [InlineData("() => _ = A.Allocate<byte>(-1)")]
    [InlineData("() => { _ = A.Allocate<byte>(-1); }")]
    [InlineData("() => { var owner = A.Allocate<byte>(-1); }")]
    [InlineData("delegate { A.Allocate<byte>(-1); }")]
    public Task Owner_AllThatLambdaMakes_Silent(string lambda) => Snippet.Members(
        $$"""
        public static void Run() => Throws({{lambda}});

        private static void Throws(Action action)
        {
        }
        """);
}
