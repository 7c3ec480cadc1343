namespace Allocator.Analyzers.Tests.Leaks;

public sealed class NeverDisposedTests
{
    [Fact]
    public Task Owner_Unused_Reported() => Snippet.Body(
        """
        var owner = {|ALLOC004:A.Allocate<byte>(64)|};
        """);

    [Fact]
    public Task Owner_Discarded_Reported() => Snippet.Body(
        """
        _ = {|ALLOC004:A.Allocate<byte>(64)|};
        """);

    [Fact]
    public Task Owner_StatementOnly_Reported() => Snippet.Body(
        """
        {|ALLOC004:A.Allocate<byte>(64)|};
        """);

    [Fact]
    public Task Owner_LengthOnly_Reported() => Snippet.Body(
        """
        Number = {|ALLOC004:A.Allocate<byte>(64)|}.Memory.Length;
        """);

    [Fact]
    public Task PixelBuffer_OnlyProcessed_Reported() => Snippet.Body(
        """
        var buffer = {|ALLOC004:A.AllocatePixels<byte>(8, 8)|};
        buffer.ProcessPixelRows(static accessor => accessor.GetRowSpan(0).Clear());
        """);

    [Fact]
    public Task PixelBuffer_ClonedAndCopied_ReportedForBoth() => Snippet.Body(
        """
        var buffer = {|ALLOC004:A.AllocatePixels<byte>(8, 8)|};
        var clone = {|ALLOC004:buffer.Clone()|};
        clone.CopyTo(buffer);
        """);

    [Fact]
    public Task Group_OnlyFilled_Reported() => Snippet.Body(
        """
        var group = {|ALLOC004:A.AllocateGroup<byte>(64)|};
        group.Fill(1);
        """);

    [Fact]
    public Task Lease_NeverDisposed_Reported() => Snippet.Body(
        """
        var lease = {|ALLOC004:A.Rent<byte>(64)|};
        Number = lease.Length;
        """);

    [Fact]
    public Task Owner_AcrossAwait_Reported() => Snippet.Members(
        """
        public static async Task Run(Stream stream)
        {
            var owner = {|ALLOC004:A.Allocate<byte>(64)|};
            await stream.ReadExactlyAsync(owner.Memory);
            Check(owner.Memory.Span[0]);
        }
        """);

    [Fact]
    public Task Owner_AcrossAwaitConfigured_Reported() => Snippet.Members(
        """
        public static async Task Run(Stream stream)
        {
            var owner = {|ALLOC004:A.Allocate<byte>(64)|};
            await stream.ReadExactlyAsync(owner.Memory).ConfigureAwait(false);
        }
        """);

    [Fact]
    public Task Allocator_NeverDisposed_Reported() => Snippet.Body(
        """
        var allocator = {|ALLOC004:MemoryAllocator.Create()|};
        using var owner = allocator.Allocate<byte>(64);
        owner.Memory.Span.Clear();
        """);

    [Fact]
    public Task Allocator_Disposed_Silent() => Snippet.Body(
        """
        using var allocator = MemoryAllocator.Create();
        using var owner = allocator.Allocate<byte>(64);
        owner.Memory.Span.Clear();
        """);

    // It throws, and says so itself: no memory is at stake.
    [Fact]
    public Task Allocator_UsedAfterDispose_Silent() => Snippet.Body(
        """
        var allocator = MemoryAllocator.Create();
        allocator.Dispose();
        allocator.ReleaseRetainedResources();
        """);

    [Fact]
    public Task Allocator_InField_Silent() => Snippet.Members(
        """
        private static readonly MemoryAllocator s_allocator = MemoryAllocator.Create();

        public static void Run() => s_allocator.ReleaseRetainedResources();
        """);

    // On the other it may well be handed on: only what is never disposed is reported.
    [Fact]
    public Task Owner_DisposedOnOnePath_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        if (Yes)
        {
            owner.Dispose();
        }
        """);

    [Fact]
    public Task Owner_InIterator_Silent() => Snippet.Members(
        """
        public static IEnumerable<int> Run()
        {
            var owner = A.Allocate<byte>(64);
            yield return 1;
            Read(owner.Memory.Span);
            yield return 2;
            owner.Dispose();
        }
        """);

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

    [Fact]
    public Task Owner_OneOfManyThingsInLambda_Reported() => Snippet.Members(
        """
        public static void Run()
        {
            Action action = () =>
            {
                Gc();
                var owner = {|ALLOC004:A.Allocate<byte>(64)|};
            };
            action();
        }
        """);
}
