using System;
using System.Buffers;
using System.IO;
using LoadResizeSave.Codecs;
using LoadResizeSave.Pixels;
using Microsoft.Win32.SafeHandles;

namespace LoadResizeSave.Running;

/// <summary>A whole encoded file in memory of the store.</summary>
internal sealed class PictureFile : IDisposable
{
    private readonly IMemoryOwner<byte> _owner;
    private readonly int _length;

    private PictureFile(IMemoryOwner<byte> owner, int length)
    {
        _owner = owner;
        _length = length;
    }

    /// <summary>Gets the bytes of the file.</summary>
    public ReadOnlyMemory<byte> Data => _owner.Memory[.._length];

    /// <summary>Reads <paramref name="path"/>.</summary>
    /// <exception cref="UnreadablePictureException">It is empty, or larger than one buffer can be.</exception>
    public static PictureFile Read(string path, PixelStore store)
    {
        using SafeFileHandle handle = File.OpenHandle(path, options: FileOptions.SequentialScan);
        long length = RandomAccess.GetLength(handle);
        if (length is 0 || length > Array.MaxLength)
        {
            throw new UnreadablePictureException(length == 0 ? "the file is empty" : $"{length:N0} bytes are too many");
        }

        IMemoryOwner<byte> owner = store.Allocate<byte>((int)length);
        try
        {
            int read = 0;
            while (read < length)
            {
                int count = RandomAccess.Read(handle, owner.Memory.Span[read..], read);
                if (count == 0)
                {
                    break;
                }

                read += count;
            }

            return new PictureFile(owner, read);
        }
        catch
        {
            owner.Dispose();
            throw;
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _owner.Dispose();
}
