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
    public static void Lock(nint address, long bytes) => Check(MemoryLock(address, (nuint)bytes), "mlock", bytes);

    public static void Unlock(nint address, long bytes) => Check(MemoryUnlock(address, (nuint)bytes), "munlock", bytes);

    private static void Check(int result, string call, long bytes)
    {
        if (result != 0)
        {
            throw new IOException($"{call} of {bytes} bytes: {Marshal.GetLastPInvokeErrorMessage()}");
        }
    }

    [LibraryImport("libc", EntryPoint = "mlock", SetLastError = true)]
    private static partial int MemoryLock(nint address, nuint length);

    [LibraryImport("libc", EntryPoint = "munlock", SetLastError = true)]
    private static partial int MemoryUnlock(nint address, nuint length);
}
