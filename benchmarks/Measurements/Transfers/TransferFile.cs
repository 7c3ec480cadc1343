namespace Measurements.Transfers;

/// <summary>The file that is read: random bytes, on a device if there is a folder that allows it. Deleted when disposed.</summary>
internal sealed class TransferFile(string path, SafeFileHandle handle, string? fallbackReason) : IDisposable
{
    private const int Seed = 4096;

    public SafeFileHandle Handle { get; } = handle;

    /// <summary>Gets why reads go through the system's cache, or null where they do not.</summary>
    public string? FallbackReason { get; } = fallbackReason;

    public bool IsDirect => FallbackReason is null;

    public string FileSystem => new DriveInfo(path).DriveFormat;

    /// <summary>
    /// Writes <paramref name="content"/> below the first of <paramref name="folders"/> whose file system allows direct reads; below the
    /// first of all where none does, to be read through the cache.
    /// </summary>
    public static TransferFile Create(ReadOnlySpan<string> folders, byte[] content)
    {
        string refusals = string.Empty;
        string? writable = null;
        foreach (string folder in folders)
        {
            string path;
            try
            {
                path = Write(folder, content);
            }
            catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
            {
                refusals += $" {folder}: {exception.Message}";
                continue;
            }

            if (DirectFile.TryOpen(path, out string reason) is { } handle)
            {
                if (DirectFile.FindLeastAlignment(handle) is not null)
                {
                    return new TransferFile(path, handle, null);
                }

                handle.Dispose();
                reason = "the file opens, and a read into page-aligned memory fails";
            }

            File.Delete(path);
            writable ??= folder;
            refusals += $" {folder}: {reason}.";
        }

        if (writable is null)
        {
            throw new IOException($"No folder takes a file of {content.Length} bytes; name one with --directory.{refusals}");
        }

        string fallback = Write(writable, content);
        return new TransferFile(fallback, File.OpenHandle(fallback), $"no folder allows {DirectFile.FlagName}, name one with "
            + $"--directory.{refusals}");
    }

    public static byte[] MakeContent(int bytes)
    {
        byte[] content = GC.AllocateUninitializedArray<byte>(bytes);
        new Random(Seed).NextBytes(content);
        return content;
    }

    public void Dispose()
    {
        Handle.Dispose();
        File.Delete(path);
    }

    private static string Write(string folder, byte[] content)
    {
        _ = Directory.CreateDirectory(folder);
        string path = Path.Combine(folder, $"transfer-{Environment.ProcessId}.bin");
        try
        {
            using FileStream stream = new(path, FileMode.Create, FileAccess.Write, FileShare.None, bufferSize: 0);
            stream.Write(content);

            // What is still to be written would be written by the first direct read.
            stream.Flush(flushToDisk: true);
            return path;
        }
        catch (IOException)
        {
            // No room for all of it: then nothing of it is to stay.
            File.Delete(path);
            throw;
        }
    }
}

/// <summary>Opens files so that reads go from the device into the caller's memory, without the system's cache between.</summary>
internal static partial class DirectFile
{
    public const string FlagName = "O_DIRECT";

    private const int ReadOnly = 0;
    private const int CloseOnExec = 0x80000;

    // One of the few values that differ between Linux's architectures.
    private static readonly int s_direct = RuntimeInformation.ProcessArchitecture == Architecture.Arm64 ? 0x10000 : 0x4000;

    /// <summary>Opens <paramref name="path"/> for direct reads, or returns null and says why it cannot be.</summary>
    public static SafeFileHandle? TryOpen(string path, out string reason)
    {
        reason = string.Empty;
        if (!OperatingSystem.IsLinux())
        {
            reason = $"{FlagName} is Linux's";
            return null;
        }

        int file = Open(path, ReadOnly | CloseOnExec | s_direct);
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

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Open(string path, int flags);
}
