namespace Allocator.Tests.Documentation;

/// <summary>The questions of <c>docs/leaks.md</c>, asked in its order, find what makes a process grow.</summary>
public class LeaksPageTests
{
    private static readonly List<IMemoryOwner<byte>> s_cache = [];

    [Theory]
    [InlineData("idle", "2. idle, no leak")]
    [InlineData("kept", "4. kept")]
    [InlineData("forgotten", "3. dropped without Dispose")]
    [InlineData("not here", "1. not this library's memory")]
    public void Questions_OneExampleOfEachKind_FindIt(string culprit, string answer) => RemoteExecutor.Invoke(
        static (culprit, answer) =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create();
            MemoryAllocatorStatistics before = allocator.GetStatistics();
            for (int i = 0; i < 20; i++)
            {
                Grow(culprit, allocator);
            }

            QueuedWork.Collect();
            Assert.Equal(answer, Answer(before, allocator.GetStatistics()));
        },
        culprit,
        answer).Dispose();

    private static string Answer(MemoryAllocatorStatistics before, MemoryAllocatorStatistics after) =>
        after.CommittedBytes == before.CommittedBytes ? "1. not this library's memory"
        : after.CommittedBytes - before.CommittedBytes == after.RetainedBytes - before.RetainedBytes ? "2. idle, no leak"
        : after.Abandoned > before.Abandoned ? "3. dropped without Dispose"
        : after.OutstandingAllocations > before.OutstandingAllocations ? "4. kept"
        : "5. or 6.";

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Grow(string culprit, MemoryAllocator allocator)
    {
        switch (culprit)
        {
            case "idle":
                allocator.Allocate<byte>(3_000_000).Dispose();
                break;
            case "kept":
                s_cache.Add(allocator.Allocate<byte>(3_000_000));
                break;
            case "forgotten":
                GC.KeepAlive(allocator.Allocate<byte>(3_000_000));
                break;
            default:
                GC.KeepAlive(new byte[3_000_000]);
                break;
        }
    }
}
