namespace Measurements.Transfers;

/// <summary>The memory of one transfer, in one segment or several; none of them moves.</summary>
internal abstract class TransferBuffer : IDisposable
{
    public virtual int SegmentCount => 1;

    public abstract Span<byte> GetSegment(int index);

    /// <summary>Locks the memory, where that is asked for and not so already.</summary>
    public virtual void Lock()
    {
    }

    /// <summary>Ends what <see cref="Lock"/> began.</summary>
    public virtual void Unlock()
    {
    }

    /// <summary>Writes to every page, so that what comes after is not charged for the first touch.</summary>
    public void Touch()
    {
        for (int i = 0; i < SegmentCount; i++)
        {
            PageTouch.Write(GetSegment(i));
        }
    }

    public abstract void Dispose();
}

/// <summary>Memory that is locked for the time of one transfer.</summary>
internal sealed class LockedBuffer(TransferBuffer memory) : TransferBuffer
{
    public override int SegmentCount => memory.SegmentCount;

    public override Span<byte> GetSegment(int index) => memory.GetSegment(index);

    public override void Lock() => ForEachSegment(PageLock.Lock);

    public override void Unlock() => ForEachSegment(PageLock.Unlock);

    public override void Dispose() => memory.Dispose();

    private unsafe void ForEachSegment(Action<nint, long> action)
    {
        for (int i = 0; i < SegmentCount; i++)
        {
            Span<byte> segment = GetSegment(i);
            action((nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(segment)), segment.Length);
        }
    }
}

/// <summary>
/// Locks memory, so that it stays where it is: what every registration with a device does, and the part of it that needs none.
/// </summary>
internal static partial class PageLock
{
    public static string CallName => OperatingSystem.IsWindows() ? "VirtualLock" : "mlock";

    public static void Lock(nint address, long bytes)
    {
        if (!(OperatingSystem.IsWindows() ? VirtualLock(address, (nuint)bytes) : MemoryLock(address, (nuint)bytes) == 0))
        {
            throw new Win32Exception(
                Marshal.GetLastPInvokeError(), $"{CallName} of {bytes} bytes: {Marshal.GetLastPInvokeErrorMessage()}");
        }
    }

    public static void Unlock(nint address, long bytes)
    {
        if (!(OperatingSystem.IsWindows() ? VirtualUnlock(address, (nuint)bytes) : MemoryUnlock(address, (nuint)bytes) == 0))
        {
            throw new Win32Exception(Marshal.GetLastPInvokeError(), $"The end of {CallName} of {bytes} bytes: "
                + $"{Marshal.GetLastPInvokeErrorMessage()}");
        }
    }

    [LibraryImport("libc", EntryPoint = "mlock", SetLastError = true)]
    private static partial int MemoryLock(nint address, nuint length);

    [LibraryImport("libc", EntryPoint = "munlock", SetLastError = true)]
    private static partial int MemoryUnlock(nint address, nuint length);

    [LibraryImport("kernel32", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    private static partial bool VirtualLock(nint address, nuint size);

    [LibraryImport("kernel32", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    private static partial bool VirtualUnlock(nint address, nuint size);
}
