using Allocator;

namespace ContractSuite;

/// <summary>Idle memory of one allocator really goes.</summary>
internal sealed class TrimmingContract(MemoryAllocator allocator)
{
    private const int Blocks = 16;
    private const int Block = 4 << 20;

    public void Waves()
    {
        for (int wave = 0; wave < 3; wave++)
        {
            List<IMemoryOwner<byte>> owners = Take(wave);
            for (int i = 0; i < owners.Count; i++)
            {
                Pattern.Verify(owners[i].Memory.Span, wave + i);
                owners[i].Dispose();
            }

            allocator.ReleaseRetainedResources();
            Checks.That(allocator.GetStatistics().CommittedBytes == 0, "no committed byte between waves");
        }
    }

    // A fifth of the bytes may be the runtime's own coming and going.
    public void ResidentSetFalls()
    {
        const long Most = (long)Blocks * Block;
        allocator.ReleaseRetainedResources();
        long before = ResidentSet.ReadBytes();
        List<IMemoryOwner<byte>> owners = Take(1);
        foreach (IMemoryOwner<byte> owner in owners)
        {
            owner.Memory.Span.Fill(1);
        }

        long held = ResidentSet.ReadBytes() - before;
        Checks.That(held > Most * 4 / 5, $"{Most:N0} bytes more in the resident set, there were {held:N0}");
        foreach (IMemoryOwner<byte> owner in owners)
        {
            owner.Dispose();
        }

        long idle = ResidentSet.ReadBytes() - before;
        Checks.That(idle > Most * 4 / 5, $"idle blocks kept, there were {idle:N0} bytes");
        allocator.ReleaseRetainedResources();
        long left = ResidentSet.ReadBytes() - before;
        Checks.That(left < Most / 5, $"the resident set as before, {left:N0} bytes were left");
    }

    public void AllGoesBack()
    {
        allocator.Prewarm(2 * Block);
        Checks.That(allocator.GetStatistics().RetainedBytes >= 2 * Block, "two blocks retained by Prewarm");
        allocator.ReleaseRetainedResources();
        MemoryAllocatorStatistics statistics = allocator.GetStatistics();
        Checks.That(
            statistics is { OutstandingAllocations: 0, RentedBytes: 0, RetainedBytes: 0, CommittedBytes: 0, QuarantinedBytes: 0 },
            $"nothing out, nothing retained: {statistics}");
    }

    private List<IMemoryOwner<byte>> Take(int seed)
    {
        List<IMemoryOwner<byte>> owners = [];
        for (int i = 0; i < Blocks; i++)
        {
            IMemoryOwner<byte> owner = allocator.Allocate<byte>(Block);
            Pattern.Fill(owner.Memory.Span, seed + i);
            owners.Add(owner);
        }

        return owners;
    }
}
