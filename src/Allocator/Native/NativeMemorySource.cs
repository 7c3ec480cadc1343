namespace Allocator.Native;

/// <summary>
/// A source of unmanaged memory, and the one boundary to the operating system: tests replace it to refuse at will. Every method is
/// thread-safe. A refusal is a result, never an exception: the caller decides how to handle it.
/// </summary>
internal abstract class NativeMemorySource
{
    /// <summary>The least alignment of every allocation, in bytes: a cache line, and what AVX-512 loads want.</summary>
    public const int MinimumAlignment = 64;

    /// <summary>The largest alignment that a caller can ask for, in bytes: a huge page of x64, and of arm64 with 4 KiB pages.</summary>
    public const int MaximumAlignment = 2 * 1024 * 1024;

    protected NativeMemorySource(int overreadToleranceInBytes)
    {
        Debug.Assert(overreadToleranceInBytes is >= 0 and <= MemoryAllocatorOptions.MaximumOverreadTolerance, "It is one page at most.");
        OverreadToleranceInBytes = overreadToleranceInBytes;
    }

    /// <summary>Gets how many bytes behind every allocation are readable. No length and no count includes them.</summary>
    public int OverreadToleranceInBytes { get; }

    public static NativeMemorySource Create(NativeMemoryKind kind, HugePages hugePages, int overreadToleranceInBytes = 0) => kind switch
    {
        NativeMemoryKind.Heap => HeapMemorySource.OfCHeap(overreadToleranceInBytes),
        NativeMemoryKind.HGlobal => HeapMemorySource.OfHGlobal(overreadToleranceInBytes),
        NativeMemoryKind.CoTaskMem => HeapMemorySource.OfCoTaskMem(overreadToleranceInBytes),
        _ => VirtualMemorySource.Create(hugePages, overreadToleranceInBytes),
    };

    /// <summary>Returns the most bytes that a process with pointers of that size can address at once, less alignment and header.</summary>
    public static long LargestLength(int pointerSizeInBytes) =>
        (pointerSizeInBytes == sizeof(int) ? int.MaxValue : long.MaxValue) - 2L * MaximumAlignment;

    /// <summary>Returns whether this process can address this many bytes in one piece.</summary>
    public static bool IsAddressable(long lengthInBytes) => lengthInBytes <= LargestLength(IntPtr.Size);

    /// <summary>Returns the bytes that an allocation of that length takes from the system.</summary>
    public abstract long RoundUp(long lengthInBytes);

    /// <summary>Returns the bytes that an allocation takes, including what its alignment wastes.</summary>
    public virtual long CapacityOf(long lengthInBytes, int alignmentInBytes) => RoundUp(lengthInBytes);

    /// <summary>Allocates a length that <see cref="RoundUp"/> returned.</summary>
    /// <returns>The address, or 0 if the system refuses.</returns>
    public abstract nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed);

    /// <summary>Gets the smallest size that becomes resident at once: a page, or a huge page.</summary>
    public virtual long ResidentUnitInBytes => Environment.SystemPageSize;

    /// <summary>Makes writable memory resident, so that its first user does not pay for it. Contents stay.</summary>
    /// <returns>False if the system refuses. Then a part may be resident, and writing to the rest may end the process.</returns>
    public virtual bool TryPopulate(nint address, long lengthInBytes)
    {
        NativeBytes.Touch(address, lengthInBytes);
        return true;
    }

    /// <summary>
    /// Frees the address and the length of one <see cref="TryAllocate"/>, or of a reservation. Even if the system refuses to take the
    /// addresses back, it gets the memory, and <see cref="Diagnostics.MemoryDiagnostics.RefusedUnmaps"/> counts the refusal.
    /// </summary>
    public abstract void Free(nint address, long lengthInBytes);

    [Conditional("DEBUG")]
    protected void AssertRequest(long lengthInBytes, int alignmentInBytes)
    {
        Debug.Assert(lengthInBytes > 0 && lengthInBytes == RoundUp(lengthInBytes), "The length is a result of RoundUp.");
        Debug.Assert(alignmentInBytes is >= MinimumAlignment and <= MaximumAlignment, "The alignment is within its bounds.");
        Debug.Assert((alignmentInBytes & (alignmentInBytes - 1)) == 0, "The alignment is a power of two.");
    }
}
