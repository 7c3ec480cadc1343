namespace Measurements.Transfers;

/// <summary>Opens files so that reads go from the device into the caller's memory, without the system's cache between.</summary>
internal static partial class DirectFile
{
    private const int ReadOnly = 0;
    private const int CloseOnExec = 0x80000;

    // FILE_FLAG_NO_BUFFERING, which FileOptions has no name for and passes through.
    private const FileOptions NoBuffering = (FileOptions)0x20000000;

    public static string FlagName => OperatingSystem.IsWindows() ? "FILE_FLAG_NO_BUFFERING" : "O_DIRECT";

    /// <summary>Opens <paramref name="path"/> for direct reads, or returns null and says why it cannot be.</summary>
    public static SafeFileHandle? TryOpen(string path, out string reason)
    {
        reason = string.Empty;
        if (OperatingSystem.IsWindows())
        {
            try
            {
                return File.OpenHandle(path, FileMode.Open, FileAccess.Read, FileShare.Read, NoBuffering);
            }
            catch (IOException exception)
            {
                reason = exception.Message;
                return null;
            }
        }

        if (!OperatingSystem.IsLinux() || DirectFlag() is not { } direct)
        {
            reason = $"{FlagName} is not known for {RuntimeInformation.OSDescription} on {RuntimeInformation.ProcessArchitecture}";
            return null;
        }

        int file = Open(path, ReadOnly | CloseOnExec | direct);
        if (file < 0)
        {
            reason = $"{Marshal.GetLastPInvokeErrorMessage()} (error {Marshal.GetLastPInvokeError()})";
            return null;
        }

        return new SafeFileHandle(file, ownsHandle: true);
    }

    /// <summary>
    /// Tries out which addresses direct reads accept: the system's documentation leaves it to kernel, file system and device. Returns the
    /// smallest power of two, in bytes, on whose multiples a read into memory succeeds; null where none does, not even on a page.
    /// </summary>
    public static unsafe int? FindLeastAlignment(SafeFileHandle handle)
    {
        const int ReadBytes = 64 << 10;
        int page = Environment.SystemPageSize;
        byte* memory = (byte*)NativeMemory.AlignedAlloc(ReadBytes + (nuint)page, (nuint)page);
        try
        {
            int least = 2 * page;
            while (least > 1 && Accepts(memory + (least / 2 % page)))
            {
                least /= 2;
            }

            return least > page ? null : least;
        }
        finally
        {
            NativeMemory.AlignedFree(memory);
        }

        bool Accepts(byte* address)
        {
            try
            {
                return RandomAccess.Read(handle, new Span<byte>(address, ReadBytes), 0) == ReadBytes;
            }
            catch (Exception exception) when (exception is IOException or ArgumentException)
            {
                return false;
            }
        }
    }

    // The value is one of the few that differ between Linux's architectures.
    private static int? DirectFlag() => RuntimeInformation.ProcessArchitecture switch
    {
        Architecture.X64 or Architecture.X86 or Architecture.RiscV64 or Architecture.S390x or Architecture.LoongArch64 => 0x4000,
        Architecture.Arm64 or Architecture.Arm or Architecture.Armv6 => 0x10000,
        Architecture.Ppc64le => 0x20000,
        _ => null,
    };

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Open(string path, int flags);
}
