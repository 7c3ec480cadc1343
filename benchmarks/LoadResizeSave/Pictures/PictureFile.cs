namespace LoadResizeSave.Pictures;

/// <summary>An encoded file on disk: first its header is read, and all of it when there is memory for it.</summary>
internal sealed class PictureFile(SafeFileHandle handle, int length) : IDisposable
{
    private byte[]? _start;

    public static PictureFile Open(string path)
    {
        SafeFileHandle handle = File.OpenHandle(path, options: FileOptions.SequentialScan);
        long length = RandomAccess.GetLength(handle);
        if (length is > 0 && length <= Array.MaxLength)
        {
            return new PictureFile(handle, (int)length);
        }

        handle.Dispose();
        throw new UnreadablePictureException(length == 0 ? "the file is empty" : $"{length:N0} bytes are too many");
    }

    /// <summary>Reads as much as it takes to know the header, which is valid until this is disposed.</summary>
    public PictureHeader ReadHeader(PictureCodecs codecs)
    {
        int wanted = Math.Min(length, PictureHeader.UsualLength);
        while (true)
        {
            try
            {
                return PictureHeader.Read(ReadStart(wanted), length, codecs);
            }
            catch (UnreadablePictureException) when (wanted < Math.Min(length, PictureHeader.LongestLength))
            {
                wanted = Math.Min(length, PictureHeader.LongestLength);
            }
        }
    }

    public IMemoryOwner<byte> Read(PixelStore store)
    {
        IMemoryOwner<byte> owner = store.Allocate<byte>(length);
        try
        {
            Fill(owner.Memory.Span);
            return owner;
        }
        catch
        {
            owner.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        ReturnStart();
        handle.Dispose();
    }

    private ReadOnlyMemory<byte> ReadStart(int wanted)
    {
        ReturnStart();
        _start = ArrayPool<byte>.Shared.Rent(wanted);
        Fill(_start.AsSpan(0, wanted));
        return _start.AsMemory(0, wanted);
    }

    private void ReturnStart()
    {
        if (_start is not null)
        {
            ArrayPool<byte>.Shared.Return(_start);
            _start = null;
        }
    }

    private void Fill(Span<byte> destination)
    {
        int read = 0;
        while (read < destination.Length)
        {
            int count = RandomAccess.Read(handle, destination[read..], read);
            if (count == 0)
            {
                throw new UnreadablePictureException("the file was cut short while it was read");
            }

            read += count;
        }
    }
}
