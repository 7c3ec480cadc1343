using Allocator;
using Allocator.Native;

namespace PlatformSmoke.Linux;

/// <summary>Touches memory that must not be accessible.</summary>
internal static unsafe class GuardPages
{
    private const int Length = 3_000_000;

    /// <summary>Touches it, which ends the process where the guard pages guard.</summary>
    /// <param name="what">
    /// <c>raw</c>: memory that was decommitted and protected; <c>returned</c>: a buffer after its return; <c>behind</c>: the guard page
    /// behind a buffer.
    /// </param>
    public static void Touch(string what)
    {
        if (what == "raw")
        {
            UnixMemorySource source = new(useHugePages: false);
            nint address = source.TryAllocate(1 << 20, NativeMemorySource.MinimumAlignment, out _);
            *(byte*)address = 1;
            Checks.That(source.TryDecommitAndProtect(address, 1 << 20), "the memory goes");
            *(byte*)address = 2;
            return;
        }

        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
        IMemoryOwner<byte> owner = allocator.Allocate<byte>(Length);
        byte* start = Address(owner);
        if (what == "returned")
        {
            owner.Dispose();
            start[Length / 2] = 7;
        }
        else
        {
            // Beyond the slack that the alignment leaves in front of the guard page.
            start[Length + NativeMemorySource.MinimumAlignment] = 7;
            owner.Dispose();
        }
    }

    private static byte* Address(IMemoryOwner<byte> owner)
    {
        using MemoryHandle pin = owner.Memory.Pin();
        return (byte*)pin.Pointer;
    }
}
