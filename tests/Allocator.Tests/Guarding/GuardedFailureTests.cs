namespace Allocator.Tests.Guarding;

/// <summary>
/// The system refuses the k-th call about watched memory, for every k until a scenario passes untouched. Nothing is lost by it.
/// </summary>
public class GuardedFailureTests
{
    private const int Block = TestSetup.BlockSize;

    public static TheoryData<SafetyMode, string> Cases
    {
        get
        {
            TheoryData<SafetyMode, string> cases = [];
            foreach (SafetyMode mode in (SafetyMode[])[SafetyMode.Sampled, SafetyMode.Guarded])
            {
                foreach (string kind in (string[])["allocate", "seal", "unseal", "seal empty", ""])
                {
                    cases.Add(mode, kind);
                }
            }

            return cases;
        }
    }

    [Theory]
    [MemberData(nameof(Cases))]
    public void AllocateAndDispose_SystemRefusesTheKthCallOnly_SucceedsAndLosesNothing(SafetyMode mode, string kind)
    {
        int refused = 0;
        for (int k = 1; k < 60; k++)
        {
            using TestSetup setup = Create(mode, kind);
            setup.Source.RefuseFrom = k;
            setup.Source.RefuseCount = 1;
            Run(setup.Allocator);
            refused += setup.Source.Calls >= k ? 1 : 0;
            AssertNothingIsLost(setup);
        }

        // In Sampled mode nothing is sealed with its contents, unless sealing without them is refused.
        Assert.Equal(mode == SafetyMode.Sampled && kind is "seal" or "unseal" && mode == SafetyMode.Sampled, refused == 0);
    }

    [Theory]
    [MemberData(nameof(Cases))]
    public void AllocateAndDispose_SystemRefusesFromTheKthCallOn_LosesNothing(SafetyMode mode, string kind)
    {
        bool passed = false;
        int failures = 0;
        for (int k = 1; !passed; k++)
        {
            Assert.InRange(k, 1, 200);
            using TestSetup setup = Create(mode, kind);
            setup.Source.RefuseFrom = k;
            try
            {
                Run(setup.Allocator);
                passed = setup.Source.Calls < k;
            }
            catch (OutOfMemoryException)
            {
                failures++;
            }

            AssertNothingIsLost(setup);
        }

        // Only these two are needed to make memory; fences can be made in two ways.
        Assert.Equal(kind is "allocate" or "", failures > 0);
    }

    private static TestSetup Create(SafetyMode mode, string kind)
    {
        TestSetup setup = GuardedSetup.Create(mode, maximumBlocks: 2);
        setup.Source.Refuses = called => kind.Length == 0 || called == kind;
        return setup;
    }

    private static void Run(MemoryAllocator allocator)
    {
        for (int i = 0; i < 3; i++)
        {
            using IMemoryOwner<byte> owner = allocator.Allocate<byte>(Block);
            owner.Memory.Span.Fill(1);
            using MemoryGroup<byte> group = allocator.AllocateGroup<byte>(3 * Block);
            group.Fill(2);
            using MemoryLease<byte> lease = allocator.Rent<byte>(100, AllocationOptions.Clean);
            Assert.Equal(-1, lease.Span.IndexOfAnyExcept((byte)0));
        }
    }

    private static void AssertNothingIsLost(TestSetup setup)
    {
        MemoryAllocatorStatistics now = setup.Statistics;
        Assert.Equal((0L, 0L), (now.OutstandingAllocations, now.RentedBytes));
        Assert.Equal(now.QuarantinedBytes, now.CommittedBytes);
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0L, 0L, 0), (setup.Statistics.CommittedBytes, setup.Statistics.QuarantinedBytes, setup.Source.LiveAllocations));
    }
}
