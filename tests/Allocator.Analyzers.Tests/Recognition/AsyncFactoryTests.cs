namespace Allocator.Analyzers.Tests.Recognition;

public sealed class AsyncFactoryTests
{
    [Fact]
    public Task ValueTask_Awaited_Reported() => Snippet.Members(
        """
        public static async Task Run()
        {
            var owner = await Make();
            {|ALLOC001:Read(owner.Memory.Span)|};
        }

        [return: OwnedBuffer]
        private static async ValueTask<IMemoryOwner<byte>> Make()
        {
            await Task.Yield();
            return A.Allocate<byte>(64);
        }
        """);

    [Fact]
    public Task Task_AwaitedConfigured_Reported() => Snippet.Members(
        """
        public static async Task Run()
        {
            var buffer = {|ALLOC004:await Make().ConfigureAwait(false)|};
            buffer.Clear();
        }

        [return: OwnedBuffer]
        private static Task<PixelBuffer<byte>> Make() => Task.FromResult(A.AllocatePixels<byte>(8, 8));
        """);

    [Fact]
    public Task ValueTask_AwaitedInUsing_Silent() => Snippet.Members(
        """
        public static async Task Run()
        {
            using var owner = await Make();
            owner.Memory.Span.Clear();
        }

        [return: OwnedBuffer]
        private static ValueTask<IMemoryOwner<byte>> Make() => new(A.Allocate<byte>(64));
        """);

    [Fact]
    public Task ValueTask_AwaitedAndDisposed_ReportedAfterwards() => Snippet.Members(
        """
        public static async Task Run()
        {
            var owner = await Make();
            owner.Dispose();
            Read({|ALLOC002:owner.Memory.Span|});
        }

        [return: OwnedBuffer]
        private static ValueTask<IMemoryOwner<byte>> Make() => new(A.Allocate<byte>(64));
        """);

    [Fact]
    public Task Task_Kept_Silent() => Snippet.Members(
        """
        public static async Task Run()
        {
            Task<IMemoryOwner<byte>> task = Make();
            Gc();
            using var owner = await task;
        }

        [return: OwnedBuffer]
        private static Task<IMemoryOwner<byte>> Make() => Task.FromResult(A.Allocate<byte>(64));
        """);

    [Fact]
    public Task Task_Blocked_Silent() => Snippet.Members(
        """
        public static void Run() => Make().Result.Dispose();

        [return: OwnedBuffer]
        private static Task<IMemoryOwner<byte>> Make() => Task.FromResult(A.Allocate<byte>(64));
        """);
}
