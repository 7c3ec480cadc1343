namespace Allocator.Tests.Fakes;

/// <summary>
/// Holds one page of the process as a device does: by the page itself, not by its address. Linux only: <c>vmsplice</c> puts a reference to
/// the page into a pipe, and what is read from the pipe is what the page holds then.
/// </summary>
internal sealed unsafe class PageTap : IDisposable
{
    private const int Bytes = 4096;

    private readonly int _read;
    private readonly int _write;

    public PageTap(nint address)
    {
        int* ends = stackalloc int[2];
        if (Pipe(ends) != 0)
        {
            throw new InvalidOperationException("pipe");
        }

        (_read, _write) = (ends[0], ends[1]);
        Range range = new() { Address = address, Length = Bytes };
        if (VmSplice(_write, &range, 1, 0) != Bytes)
        {
            throw new InvalidOperationException("vmsplice");
        }
    }

    /// <summary>Gives the first byte of the page. Once.</summary>
    public byte ReadFirst()
    {
        byte* page = stackalloc byte[Bytes];
        return Read(_read, page, Bytes) == Bytes ? page[0] : throw new InvalidOperationException("read");
    }

    public void Dispose()
    {
        Close(_read);
        Close(_write);
    }

    [DllImport("libc", EntryPoint = "pipe")]
    private static extern int Pipe(int* ends);

    [DllImport("libc", EntryPoint = "vmsplice")]
    private static extern nint VmSplice(int pipe, Range* ranges, nuint count, uint flags);

    [DllImport("libc", EntryPoint = "read")]
    private static extern nint Read(int file, void* buffer, nuint count);

    [DllImport("libc", EntryPoint = "close")]
    private static extern int Close(int file);

    private struct Range
    {
        public nint Address;

        public nint Length;
    }
}
