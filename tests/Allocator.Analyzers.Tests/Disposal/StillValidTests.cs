namespace Allocator.Analyzers.Tests.Disposal;

public sealed class StillValidTests
{
    // They tell one object from another, and leave the memory alone.
    [Theory]
    [InlineData("owner.GetHashCode()")]
    [InlineData("owner.GetType()")]
    [InlineData("owner.Equals(Probe.Field)")]
    [InlineData("owner.ToString()")]
    [InlineData("memory.GetHashCode()")]
    [InlineData("memory.Equals(default(Memory<byte>))")]
    public Task Identity_AskedForAfterDispose_Silent(string expression) => Snippet.Members(
        $$"""
        public static object? Run()
        {
            var owner = A.Allocate<byte>(64);
            Memory<byte> memory = owner.Memory;
            owner.Dispose();
            return {{expression}};
        }
        """);
}
