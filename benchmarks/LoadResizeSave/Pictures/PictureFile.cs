namespace LoadResizeSave.Pictures;

/// <summary>An encoded file on disk: its header is read first, and all of it once there is memory for it.</summary>
internal sealed class PictureFile(SafeFileHandle handle, int length) : IDisposable
{
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

    public SourceHeader ReadHeader()
    {
        int most = Math.Min(length, SourceHeader.LongestLength);
        for (int wanted = Math.Min(length, SourceHeader.UsualLength); ; wanted = most)
        {
            byte[] start = ArrayPool<byte>.Shared.Rent(wanted);
            try
            {
                Fill(start.AsSpan(0, wanted));
                return SourceHeader.Read(start.AsMemory(0, wanted), length);
            }
            catch (UnreadablePictureException) when (wanted < most)
            {
                // The header goes on beyond these bytes.
            }
            finally
            {
                ArrayPool<byte>.Shared.Return(start);
            }
        }
    }

    public IMemoryOwner<byte> Read(PixelStore store)
    {
        IMemoryOwner<byte> owner = store.Allocate(length);
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

    public void Dispose() => handle.Dispose();

    private void Fill(Span<byte> destination)
    {
        for (int read = 0; read < destination.Length;)
        {
            int count = RandomAccess.Read(handle, destination[read..], read);
            read += count > 0 ? count : throw new UnreadablePictureException("the file was cut short while it was read");
        }
    }
}
