using System.Runtime.ExceptionServices;

namespace Allocator.Skia;

/// <summary>
/// Passes what Skia encodes to a stream of the user's. What that throws is kept until Skia has returned: an exception that passes native
/// code ends the process.
/// </summary>
internal sealed class CatchingStream(Stream destination) : SKAbstractManagedWStream
{
    private ExceptionDispatchInfo? _failure;
    private long _written;

    /// <summary>Throws what the destination threw, if it did.</summary>
    public void ThrowIfFailed() => _failure?.Throw();

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
            _failure = ExceptionDispatchInfo.Capture(exception);
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
