using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// Guards an array of <see cref="ArrayPool{T}.Shared"/>. It has no finalizer: an abandoned array is collected, and a span into it keeps it
/// alive. Guards are kept by the thread that returned them, for its next rents of the same allocator.
/// </summary>
internal sealed class ArrayGuard(ArraySource source) : LifetimeGuard(new RentState())
{
    public ArraySource Source { get; } = source;

    public long Begin(byte[] array, int usedBytes)
    {
        Debug.Assert(Array is null, "The guard is in use.");
        Array = array;
        Record.UsedBytes = usedBytes;
        return Begin();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public void BeginTrace(byte[] array, int usedBytes, string? allocatorName)
    {
        Trace = MemoryDiagnostics.TryTrace(array.Length, allocatorName, canLeak: false);
        Trace?.WriteRented(RuntimeHelpers.GetHashCode(array), usedBytes);
    }

    protected override void EndRent(bool ofLease)
    {
        byte[] array = Array!;
        Array = null;
        EndTrace(TraceEnd.Returned);
        Source.Return(array, this);
    }
}
