namespace Allocator.Tests.Pooling;

/// <summary>Why a pool that is registered with a device must not purge: on the real system, without a device.</summary>
public class HeldPagesTests
{
    private const int Block = TestSetup.BlockSize;

    // The address is the same, and the page that a device would write to is another one.
    [SkippableFact]
    public void Purge_PageHeldFromOutside_GivesTheBlockAnotherPage()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs vmsplice.");
        using TestSetup setup = new(maximumBlocks: 1);

        Assert.Equal(1, WhatTheHolderSees(setup));
    }

    [SkippableFact]
    public void KeepBlocks_PageHeldFromOutside_StaysWithItsBlock()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs vmsplice.");
        using TestSetup setup = new(
            maximumBlocks: 1, options: new MemoryAllocatorOptions { KeepBlocks = true, MaximumPoolSizeMegabytes = 4 });

        Assert.Equal(2, WhatTheHolderSees(setup));
    }

    [SkippableFact]
    public void Purge_LockedBlock_IsRefusedUnlessReleasingUnlocksIt()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs mlock.");
        bool unlocks = false;
        int locked = 0;
        using TestSetup setup = new(maximumBlocks: 1, options: new MemoryAllocatorOptions
        {
            BlockCommitted = (address, length) => locked += MLock(address, (nuint)length) == 0 ? 1 : 0,
            BlockReleasing = (address, length) => locked -= unlocks && MUnlock(address, (nuint)length) == 0 ? 1 : 0,
        });
        setup.Allocator.Prewarm(Block);
        Skip.If(locked == 0, "No memory may be locked here.");
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(Block, setup.Statistics.RetainedBytes);

        unlocks = true;
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(0, setup.Statistics.RetainedBytes);
    }

    // Held while the block is out, which is then returned, trimmed and rented again.
    private static byte WhatTheHolderSees(TestSetup setup)
    {
        IMemoryOwner<byte> first = setup.Allocator.Allocate<byte>(Block);
        first.Memory.Span.Fill(1);
        nint address = GuardedSetup.AddressOf(first);
        using PageTap holder = new(address);
        first.Dispose();
        setup.Allocator.ReleaseRetainedResources();

        using IMemoryOwner<byte> second = setup.Allocator.Allocate<byte>(Block);
        Assert.Equal(address, GuardedSetup.AddressOf(second));
        second.Memory.Span.Fill(2);
        return holder.ReadFirst();
    }

    [DllImport("libc", EntryPoint = "mlock")]
    private static extern int MLock(nint address, nuint length);

    [DllImport("libc", EntryPoint = "munlock")]
    private static extern int MUnlock(nint address, nuint length);
}
