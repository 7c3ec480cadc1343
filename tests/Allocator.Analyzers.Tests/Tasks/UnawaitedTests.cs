namespace Allocator.Analyzers.Tests.Tasks;

public sealed class UnawaitedTests
{
    [Theory]
    [InlineData("Recording")]
    [InlineData("UnmanagedMemoryStream")]
    public Task Write_ToStreamThatWritesAtOnce_Silent(string type) => Snippet.Members(
        $$"""
        public sealed class Recording : MemoryStream
        {
        }

        public static Task Run({{type}} stream)
        {
            using var owner = A.Allocate<byte>(64);
            return stream.WriteAsync(owner.Memory).AsTask();
        }
        """);
}
