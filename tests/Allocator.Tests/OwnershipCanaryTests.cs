using System.Diagnostics;

namespace Allocator.Tests;

/// <summary>
/// Each renter writes a number of its own over its whole block, and looks for it before the return, on real memory: while threads come and
/// go, allocators come and go, collections run, and idle memory is taken away all the time.
/// </summary>
public class OwnershipCanaryTests
{
    private const int Renters = 6;
    private const int RentsOfAThread = 25;
    private static readonly TimeSpan s_duration = TimeSpan.FromSeconds(Races.Rounds);

    private static long s_lastNumber;
    private static long s_rents;
    private static string? s_violation;

    [Theory]
    [InlineData(SafetyMode.Standard, "")]
    [InlineData(SafetyMode.Standard, "64")]
    [InlineData(SafetyMode.Sampled, "")]
    public void Rent_UnderChurnCollectionsAndTrims_HasOneOwner(SafetyMode safety, string budget) => RemoteExecutor.Invoke(
        static (safety, budget) =>
        {
            MemoryAllocatorOptions options = new()
            {
                MaximumPoolSizeMegabytes = 48,
                Safety = Enum.Parse<SafetyMode>(safety),
                SafetySampleInterval = 10,
                MemoryBudgetMegabytes = budget.Length > 0 ? int.Parse(budget) : null,
                BudgetTimeout = Timeout.InfiniteTimeSpan,
                TrimPeriod = TimeSpan.FromMilliseconds(50),
            };
            MemoryAllocator allocator = MemoryAllocator.Create(options);
            Stopwatch elapsed = Stopwatch.StartNew();
            Thread[] renters = new Thread[Renters];
            for (int i = 0; i < Renters; i++)
            {
                int seed = i;
                renters[i] = new Thread(() => Replace(allocator, options, elapsed, seed));
                renters[i].Start();
            }

            while (elapsed.Elapsed < s_duration)
            {
                allocator.ReleaseRetainedResources();
                GC.Collect();
                Thread.Yield();
            }

            Array.ForEach(renters, static renter => renter.Join());
            Assert.Null(s_violation);
            Assert.True(s_rents > Renters * RentsOfAThread, $"{s_rents} rents show nothing.");
            allocator.ReleaseRetainedResources();
            MemoryAllocatorStatistics end = allocator.GetStatistics();
            Assert.Equal((0L, 0L, 0L), (end.OutstandingAllocations, end.RentedBytes, end.BudgetUsedBytes));
            allocator.Dispose();
            Assert.Equal(0, allocator.GetStatistics().CommittedBytes);
        },
        safety.ToString(),
        budget).Dispose();

    // One thread after the other, and beside the shared allocator one of its own, disposed while its memory is out.
    private static void Replace(MemoryAllocator shared, MemoryAllocatorOptions options, Stopwatch elapsed, int seed)
    {
        for (int round = 0; elapsed.Elapsed < s_duration; round++)
        {
            Thread thread = new(() =>
            {
                Random random = new(seed * 10_000 + round);
                for (int i = 0; i < RentsOfAThread; i++)
                {
                    RentOne(shared, random, static _ => { });
                }

                RentOne(MemoryAllocator.Create(options), random, static own => own.Dispose());
            });
            thread.Start();
            thread.Join();
        }
    }

    private static void RentOne(MemoryAllocator allocator, Random random, Action<MemoryAllocator> meanwhile)
    {
        // A block or a run; never so much that threads that hold nothing could not go on.
        int length = random.Next(1 << 20, 9 << 20);
        using MemoryGroup<byte> group = allocator.AllocateGroup<byte>(length, options: random.Next(2) == 0
            ? AllocationOptions.Contiguous
            : AllocationOptions.None);
        long number = Interlocked.Increment(ref s_lastNumber);
        foreach (Memory<byte> member in group)
        {
            MemoryMarshal.Cast<byte, long>(member.Span).Fill(number);
        }

        meanwhile(allocator);
        Thread.Yield();
        foreach (Memory<byte> member in group)
        {
            Span<long> numbers = MemoryMarshal.Cast<byte, long>(member.Span);
            int wrong = numbers.IndexOfAnyExcept(number);
            if (wrong >= 0)
            {
                s_violation = $"Renter {number} finds {numbers[wrong]} at {wrong * sizeof(long)} of {member.Length} bytes.";
            }
        }

        Interlocked.Increment(ref s_rents);
    }
}
