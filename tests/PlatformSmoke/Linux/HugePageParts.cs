using Allocator;

namespace PlatformSmoke.Linux;

/// <summary>
/// Huge pages around blocks: what is purged must stay away from blocks beside it that are in use, whatever <c>khugepaged</c> does
/// meanwhile. In a control group of version 2.
/// </summary>
internal static class HugePageParts
{
    private const int Block = 4 << 20;

    // In it khugepaged comes by a few times, where it was told to hurry.
    private static readonly TimeSpan s_meanwhile = TimeSpan.FromSeconds(8);

    public static void Run(Checks checks)
    {
        const string Settings = "/sys/kernel/mm/transparent_hugepage/";
        long size = ControlGroupFiles.ReadNumber(Settings + "hpage_pmd_size");
        Console.WriteLine($"   huge pages of {size >> 20} MB: {File.ReadAllText(Settings + "enabled").Trim()}");
        foreach (HugePages pages in (HugePages[])[HugePages.Auto, HugePages.Off])
        {
            checks.Run($"huge: {pages}: the charge follows the blocks", () => ChargeFollows(pages));
        }
    }

    private static void ChargeFollows(HugePages pages)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MaximumPoolSizeMegabytes = 256,
            TrimPeriod = TimeSpan.FromHours(1),
            HugePages = pages,
        });
        long start = ControlGroupFiles.ChargedBytes;
        IMemoryOwner<byte>[] blocks = new IMemoryOwner<byte>[48];
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = allocator.Allocate<byte>(Block);
            blocks[i].Memory.Span.Fill(1);
        }

        for (int i = 0; i < blocks.Length; i++)
        {
            if (i % 8 != 0)
            {
                blocks[i].Dispose();
            }
        }

        allocator.ReleaseRetainedResources();
        using (ManualResetEventSlim never = new())
        {
            never.Wait(s_meanwhile);
        }

        long some = ControlGroupFiles.ChargedBytes - start;
        for (int i = 0; i < blocks.Length; i += 8)
        {
            blocks[i].Dispose();
        }

        allocator.ReleaseRetainedResources();
        long none = ControlGroupFiles.ChargedBytes - start;
        Console.WriteLine($"   6 of 48 blocks outstanding: {some >> 20} MB; none: {none >> 20} MB");
        Checks.That(some < 36 << 20, $"a charge of about 24 MB for 6 blocks, not of {some >> 20}");
        Checks.That(none < 8 << 20, $"none in the end, not {none >> 20} MB");
    }
}
