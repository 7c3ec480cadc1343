using System.Buffers.Text;
using System.Text;

namespace Allocator.Native;

/// <summary>A small file of Linux, kept open: reading it again is one system call without managed memory. Not thread-safe.</summary>
internal class SystemFile(FileStream? file) : IDisposable
{
    // The longest is memory.stat, of some 2 KB.
    private readonly byte[] _buffer = new byte[8192];
    private int _length;

    /// <summary>Opens a file. Returns null if it does not exist or may not be read.</summary>
    /// <exception cref="IOException">It cannot be opened now; for instance, the process has too many open files.</exception>
    public static SystemFile? TryOpen(string path)
    {
        ShortLock.AssertNoneHeld();
        try
        {
            // No buffer in the stream: it would return old contents when the file is read again.
            return File.Exists(path)
                ? new SystemFile(new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite, bufferSize: 1))
                : null;
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    /// <summary>Makes a file that only its owner can read. Leaves an existing file alone.</summary>
    /// <exception cref="IOException">The file exists, or none can be made. Other exceptions are about access or paths.</exception>
    public static FileStream CreatePrivate(string path)
    {
        const FileShare Share = FileShare.ReadWrite | FileShare.Delete;
        bool hasModes = !RuntimeInformation.IsOSPlatform(OSPlatform.Windows);
#if NET
        FileStreamOptions options = new() { Mode = FileMode.CreateNew, Access = FileAccess.ReadWrite, Share = Share };
        if (hasModes)
        {
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        }

        return new FileStream(path, options);
#else
        FileStream created = new(path, FileMode.CreateNew, FileAccess.ReadWrite, Share);
        if (hasModes && LibC.ChangeMode(path, LibC.OwnerReadsAndWrites) != 0)
        {
            created.Dispose();
            File.Delete(path);
            throw new IOException($"The mode of {path} cannot be changed to 0600.");
        }

        return created;
#endif
    }

    /// <summary>Reads the file's present contents.</summary>
    /// <exception cref="IOException">The file is no longer there: its control group was removed.</exception>
    public void Refresh()
    {
        ShortLock.AssertNoneHeld();
        _length = Read(_buffer);
    }

    /// <summary>Reads the file's present contents, or nothing if it cannot be read.</summary>
    /// <remarks>A group may have a file of stalls although the kernel counts none (<c>psi=0</c>): then every read of it fails.</remarks>
    public void RefreshIfReadable()
    {
        try
        {
            Refresh();
        }
        catch (IOException)
        {
            _length = 0;
        }
    }

    /// <summary>Gets the contents as of the last <see cref="Refresh"/>.</summary>
    public ReadOnlySpan<byte> Text => _buffer.AsSpan(0, _length);

    /// <summary>Reads the number at its beginning. Null if there is none, as in <c>max</c>.</summary>
    public long? ReadNumber()
    {
        Refresh();
        return Utf8Parser.TryParse(Text, out long number, out _) ? number : null;
    }

    /// <summary>
    /// Gets the percentage of the last ten seconds in which at least one thread waited, from pressure stall information. Null if unknown.
    /// </summary>
    /// <remarks>From the line "some". The line "full" needs all threads to stall at once, long after a service became slow.</remarks>
    public double? StalledPercent
    {
        get
        {
            ReadOnlySpan<byte> average = "some avg10="u8;
            int start = Text.IndexOf(average);
            return start >= 0 && Utf8Parser.TryParse(Text.Slice(start + average.Length), out double percent, out _)
                && percent is >= 0 and <= 100
                ? percent
                : null;
        }
    }

    /// <summary>Reads the text of a file once. Returns null if it does not exist or may not be read.</summary>
    public static string? TryRead(string path)
    {
        try
        {
            using SystemFile? opened = TryOpen(path);
            opened?.Refresh();
            return opened?.ToString();
        }
        catch (IOException)
        {
            return null;
        }
    }

    /// <summary>Finds the number behind a key in lines like <c>key number</c> or <c>key: number kB</c>. Null if there is none.</summary>
    public long? Find(ReadOnlySpan<byte> key)
    {
        for (ReadOnlySpan<byte> rest = Text; !rest.IsEmpty;)
        {
            int end = rest.IndexOf((byte)'\n');
            ReadOnlySpan<byte> line = end < 0 ? rest : rest.Slice(0, end);
            rest = end < 0 ? default : rest.Slice(end + 1);
            if (line.Length > key.Length && line.StartsWith(key) && line[key.Length] is (byte)' ' or (byte)':')
            {
                ReadOnlySpan<byte> value = line.Slice(key.Length + 1);
                while (!value.IsEmpty && value[0] == (byte)' ')
                {
                    value = value.Slice(1);
                }

                return !Utf8Parser.TryParse(value, out long number, out int digits) || number > long.MaxValue / 1024 ? null
                    : digits < value.Length ? number * 1024 : number;
            }
        }

        return null;
    }

    public override string ToString() => Encoding.UTF8.GetString(_buffer, 0, _length);

    public void Dispose() => file?.Dispose();

    protected virtual int Read(byte[] buffer)
    {
        file!.Position = 0;
        return file.Read(buffer, 0, buffer.Length);
    }
}
