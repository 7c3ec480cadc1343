namespace LoadResizeSave.Containers;

/// <summary>What the C library's heap holds of the system: nothing outside of it, neither the collector nor a budget, knows.</summary>
internal readonly unsafe record struct MallocState(long HeldBytes, long FreeBytes)
{
    private static readonly delegate* unmanaged<Information> s_read = Find();

    /// <summary>Asks glibc; zeros where there is another library, or one before 2.33. Locks each arena for a moment.</summary>
    public static MallocState Read()
    {
        if (s_read is null)
        {
            return default;
        }

        Information information = s_read();
        return new MallocState((long)(information.Arenas + information.Mapped), (long)information.Free);
    }

    private static delegate* unmanaged<Information> Find()
        => NativeLibrary.TryLoad("libc.so.6", out nint library) && NativeLibrary.TryGetExport(library, "mallinfo2", out nint address)
            ? (delegate* unmanaged<Information>)address
            : null;

    // struct mallinfo2 of malloc.h.
    [StructLayout(LayoutKind.Sequential)]
    private readonly struct Information
    {
        public readonly nuint Arenas;
        public readonly nuint FreeChunks;
        public readonly nuint FastChunks;
        public readonly nuint Mappings;
        public readonly nuint Mapped;
        public readonly nuint Unused;
        public readonly nuint FastBytes;
        public readonly nuint InUse;
        public readonly nuint Free;
        public readonly nuint Trimmable;
    }
}
