namespace Measurements.Transfers;

/// <summary>The file that is read: random bytes, on a device if there is a folder that allows it. Deleted when disposed.</summary>
internal sealed class TransferFile(string path, SafeFileHandle handle, string? fallbackReason) : IDisposable
{
    private const int Seed = 4096;

    private readonly string _path = path;

    public SafeFileHandle Handle { get; } = handle;

    /// <summary>Gets why reads go through the system's cache, or null where they do not.</summary>
    public string? FallbackReason { get; } = fallbackReason;

    public bool IsDirect => FallbackReason is null;

    public string FileSystem
    {
        get
        {
            try
            {
                return new DriveInfo(_path).DriveFormat;
            }
            catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or ArgumentException)
            {
                return "unknown";
            }
        }
    }

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
        File.Delete(_path);
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
