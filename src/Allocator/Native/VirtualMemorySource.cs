namespace Allocator.Native;

/// <summary>
/// A source that can hold address space without memory, put memory behind parts of it, and take the memory away again. If the system
/// refuses, methods return false, or address 0.
/// </summary>
internal abstract class VirtualMemorySource(long pageSizeInBytes, int overreadToleranceInBytes = 0)
    : NativeMemorySource(overreadToleranceInBytes)
{
    /// <summary>Gets the unit of commitment in bytes: 4, 16 or 64 KiB.</summary>
    public long PageSizeInBytes { get; } = pageSizeInBytes;

    public override long ResidentUnitInBytes => PageSizeInBytes;

    /// <summary>Gets whether memory is zero at its first touch.</summary>
    public virtual bool MapsZeroed => true;

    public static VirtualMemorySource Create(HugePages hugePages, int overreadToleranceInBytes = 0) =>
        RuntimeInformation.IsOSPlatform(OSPlatform.Windows)
            ? new WindowsMemorySource(overreadToleranceInBytes)
            : new UnixMemorySource(useHugePages: hugePages == HugePages.Auto, overreadToleranceInBytes: overreadToleranceInBytes);

    public sealed override long RoundUp(long lengthInBytes) => (lengthInBytes + PageSizeInBytes - 1) & -PageSizeInBytes;

    /// <summary>
    /// Reserves address space for parts of one length, in whole pages. It starts on a <see cref="NativeMemorySource.MaximumAlignment"/>
    /// boundary. As far as the tolerance goes, the beginning of each part, with memory or without, and the bytes behind the last part can
    /// be read. <see cref="NativeMemorySource.Free"/> returns all of it.
    /// </summary>
    public abstract nint TryReserve(long lengthInBytes, long partInBytes);

    /// <summary>Puts memory behind one part of a reservation, or behind adjacent ones.</summary>
    public abstract bool TryCommit(nint address, long lengthInBytes, out bool zeroed);

    /// <summary>Returns the memory of one committed part, keeps the addresses. If pages are locked it fails, changing nothing.</summary>
    public abstract bool TryPurge(nint address, long lengthInBytes);

    /// <summary>Makes every access to committed whole pages fault. Contents stay. If it is refused, nothing changes.</summary>
    public abstract bool TryProtect(nint address, long lengthInBytes);

    /// <summary>Makes protected memory accessible again, with the contents that it had.</summary>
    public abstract bool TryUnprotect(nint address, long lengthInBytes);

    /// <summary>
    /// Makes every access to whole pages fault and returns their memory. If it is refused, the pages are accessible, perhaps without
    /// contents.
    /// </summary>
    public abstract bool TryDecommitAndProtect(nint address, long lengthInBytes);

    [Conditional("DEBUG")]
    protected void AssertPages(nint address, long lengthInBytes)
    {
        ShortLock.AssertNoneHeld();
        Debug.Assert((address | lengthInBytes) % PageSizeInBytes == 0, "The range is of whole pages.");
    }
}
