using System.Runtime.ExceptionServices;

namespace Allocator.Skia;

/// <summary>
/// Passes encoded bytes from Skia to a stream of the user's. An exception of that stream is kept until Skia has returned, because passing
/// it through native code would end the process.
/// </summary>
internal sealed class CatchingStream(Stream destination) : SKAbstractManagedWStream
{
    private Exception? _failure;
    private long _written;

    /// <summary>Throws the exception of the destination, if there was one.</summary>
    public void ThrowIfFailed()
    {
        if (_failure is not null)
        {
            ExceptionDispatchInfo.Throw(_failure);
        }
    }

    /// <summary>Writes what Skia has encoded. False ends the encoding.</summary>
    protected override unsafe bool OnWrite(IntPtr buffer, IntPtr size)
    {
        if (_failure is not null)
        {
            return false;
        }

        try
        {
            destination.Write(new ReadOnlySpan<byte>((void*)buffer, checked((int)size)));
            _written += size;
            return true;
        }
        catch (Exception exception)
        {
            // Do no more than this, because there may be no managed memory left here.
            _failure = exception;
            return false;
        }
    }

    /// <summary>Does nothing: the destination is the caller's to flush.</summary>
    protected override void OnFlush()
    {
    }

    /// <summary>Returns how much was written.</summary>
    protected override IntPtr OnBytesWritten() => (nint)_written;
}
