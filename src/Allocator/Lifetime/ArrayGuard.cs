using System.Buffers;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// Guards an array of <see cref="ArrayPool{T}.Shared"/>. It has no finalizer: an abandoned array is collected, and a span into it keeps it
/// alive. Guards are kept by the thread that returned them, for its next rents of the same allocator.
/// </summary>
internal sealed class ArrayGuard : LifetimeGuard
{
    // Only while the array is outstanding: a thread keeps the guard, and must not keep the allocator's part with it.
    private ArraySource? _source;

    public ArrayGuard()
        : base(new BlockState())
    {
    }

    public long Begin(byte[] array, int usedBytes, ArraySource source, AllocationTrace? trace)
    {
        Debug.Assert(Array is null, "The guard is in use.");
        if (trace is not null)
        {
            Trace = trace;
        }

        _source = source;
        Array = array;
        Record.UsedBytes = usedBytes;
        long generation = Begin();
        trace?.WriteRented(RuntimeHelpers.GetHashCode(array), usedBytes);
        return generation;
    }

    protected override void GiveBack()
    {
        byte[] array = Array!;
        ArraySource source = _source!;
        Array = null;
        _source = null;
        EndTrace(TraceEnd.Returned);
        source.Return(array, this);
    }
}
