using System.Buffers.Text;
using System.Text;

namespace Allocator.Native;

/// <summary>A small file of Linux, kept open: reading it again is one system call without managed memory. Not thread-safe.</summary>
internal class SystemFile : IDisposable
{
    // The longest is memory.stat, of some 2 KB.
    private readonly byte[] _buffer = new byte[8192];
    private readonly FileStream? _file;
    private int _length;

    protected SystemFile(FileStream? file) => _file = file;

    /// <summary>Opens a file; null where it is not there or may not be read.</summary>
    /// <exception cref="IOException">It could not be opened now: the process has as many files open as it may, for instance.</exception>
    public static SystemFile? TryOpen(string path)
    {
        ShortLock.AssertNoneHeld();
        try
        {
            // No buffer of its own: what it had read before would be read again.
            return File.Exists(path)
                ? new SystemFile(new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite, bufferSize: 1))
                : null;
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    /// <summary>Makes a file that only its owner can read. One of that name is left alone.</summary>
    /// <exception cref="IOException">There is one of that name, or none can be made. Others are of access or of paths.</exception>
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
        FileStream file = new(path, FileMode.CreateNew, FileAccess.ReadWrite, Share);
        if (hasModes && LibC.ChangeMode(path, LibC.OwnerReadsAndWrites) != 0)
        {
            file.Dispose();
            File.Delete(path);
            throw new IOException($"The mode of {path} cannot be changed to 0600.");
        }

        return file;
#endif
    }

    /// <summary>Reads what it says now.</summary>
    /// <exception cref="IOException">It is no longer there: its control group was removed.</exception>
    public void Refresh()
    {
        ShortLock.AssertNoneHeld();
        _length = Read(_buffer);
    }

    /// <summary>Reads what it says now; nothing where it cannot be read.</summary>
    /// <remarks>A group may have a file of stalls although the kernel counts none (<c>psi=0</c>): every read of it fails.</remarks>
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

    /// <summary>Gets all of it, as of the last <see cref="Refresh"/>.</summary>
    public ReadOnlySpan<byte> Text => _buffer.AsSpan(0, _length);

    /// <summary>Reads the number at its beginning; null where there is none, as in <c>max</c>.</summary>
    public long? ReadNumber()
    {
        Refresh();
        return Utf8Parser.TryParse(Text, out long number, out _) ? number : null;
    }

    /// <summary>
    /// Gets for what percentage of the last ten seconds some thread waited, from pressure stall information; null if unknown.
    /// </summary>
    /// <remarks>The line "some", not "full", which wants all threads stalled at once: long after a service has become slow.</remarks>
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

    /// <summary>Reads the text of a file once; null where it is not there or may not be read.</summary>
    public static string? TryRead(string path)
    {
        try
        {
            using SystemFile? file = TryOpen(path);
            file?.Refresh();
            return file?.ToString();
        }
        catch (IOException)
        {
            return null;
        }
    }

    /// <summary>
    /// Finds the number behind a key in lines like <c>key number</c> or <c>key: number kB</c>; null where there is none.
    /// </summary>
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

    /// <summary>Returns its text as a string.</summary>
    public override string ToString() => Encoding.UTF8.GetString(_buffer, 0, _length);

    public void Dispose() => _file?.Dispose();

    protected virtual int Read(byte[] buffer)
    {
        _file!.Position = 0;
        return _file.Read(buffer, 0, buffer.Length);
    }
}
