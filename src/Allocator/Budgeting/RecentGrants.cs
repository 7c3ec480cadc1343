using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// The memory that was committed and is neither used nor given back. Until it is used, no reading of the system contains it. Adding and
/// adding up under the owner's lock; forgetting without one.
/// </summary>
internal sealed class RecentGrants
{
    /// <summary>
    /// Memory of which two looks with so much time between them find no further page used counts as never going to be: a part of a large
    /// buffer often is not. With many more threads than cores a decoder takes seconds for a picture, and stands still for a part of one.
    /// </summary>
    public const int LifetimeMilliseconds = 10_000;

    // More than a container of 512 MB has blocks of 4 MiB.
    private const int Capacity = 256;

    private readonly long[] _addresses = new long[Capacity];
    private readonly long[] _bytes = new long[Capacity];
    private readonly long[] _untouched = new long[Capacity];
    private readonly long[] _milliseconds = new long[Capacity];
    private int _unsettled;

    /// <summary>Adds memory that was committed just now, or announced by others, whose number below zero is no address.</summary>
    public void Add(long address, long bytes, long nowMilliseconds)
    {
        if (bytes == 0)
        {
            return;
        }

        int index = FindPlace();
        _bytes[index] = _untouched[index] = bytes;
        _milliseconds[index] = nowMilliseconds;
        Volatile.Write(ref _unsettled, Math.Min(Capacity, _unsettled + 1));
        Volatile.Write(ref _addresses[index], address);
    }

    /// <summary>Forgets what is about to go back to the system. Takes no lock.</summary>
    public void Forget(long address)
    {
        // In a process without limits there is never anything here, and everything that goes back comes by.
        int i = -1;
        while (Volatile.Read(ref _unsettled) > 0 && (i = Array.IndexOf(_addresses, address, i + 1)) >= 0)
        {
            Interlocked.CompareExchange(ref _addresses[i], 0, address);
        }
    }

    /// <summary>Looks which pages have been used since the last look.</summary>
    public void Measure(SystemMemory source, long nowMilliseconds)
    {
        int unsettled = 0;
        for (int i = 0; i < Capacity && _unsettled > 0; i++)
        {
            if (!IsUnsettled(i))
            {
                continue;
            }

            long address = Volatile.Read(ref _addresses[i]);
            long untouched = address < 0 ? _untouched[i] : source.UntouchedBytes((nint)address, _bytes[i]);
            if (untouched < _untouched[i])
            {
                _milliseconds[i] = nowMilliseconds;
            }
            else if (nowMilliseconds - _milliseconds[i] >= LifetimeMilliseconds)
            {
                untouched = 0;
            }

            // What was written to swap is not resident either.
            _untouched[i] = untouched = Math.Min(untouched, _untouched[i]);
            unsettled += untouched > 0 ? 1 : 0;
        }

        _unsettled = unsettled;
    }

    /// <summary>Adds up what was not used at the last look, with what others announced or without.</summary>
    public long Sum(bool withAnnounced)
    {
        long sum = 0;
        for (int i = 0; i < Capacity && _unsettled > 0; i++)
        {
            sum += IsUnsettled(i) && (withAnnounced || Volatile.Read(ref _addresses[i]) > 0) ? _untouched[i] : 0;
        }

        return sum;
    }

    // A free place; where there is none, that of the least: many small ones do not push out the large.
    private int FindPlace()
    {
        int least = 0;
        for (int i = 0; i < Capacity; i++)
        {
            if (!IsUnsettled(i))
            {
                return i;
            }

            least = _untouched[i] < _untouched[least] ? i : least;
        }

        return least;
    }

    private bool IsUnsettled(int index) => _untouched[index] > 0 && Volatile.Read(ref _addresses[index]) != 0;
}
