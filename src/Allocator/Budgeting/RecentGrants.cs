using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// The memory that was committed and is neither used nor given back. Until it is used, no reading of the system contains it. Adding and
/// adding up under the owner's lock; forgetting without one; measuring outside of it.
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

    // Which grant has the place: the same address may be granted anew while it is measured.
    private readonly long[] _serials = new long[Capacity];
    private long _lastSerial;
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
        _serials[index] = ++_lastSerial;
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

    /// <summary>Looks which pages have been used since the last look. One thread at a time, outside of the owner's lock.</summary>
    public void Measure(SystemMemory source, long nowMilliseconds, ShortLock ownersLock)
    {
        for (int i = 0; i < Capacity && Volatile.Read(ref _unsettled) > 0; i++)
        {
            long address, bytes, serial;
            using (ownersLock.Enter())
            {
                (address, bytes, serial) = (IsUnsettled(i) ? Volatile.Read(ref _addresses[i]) : 0, _bytes[i], _serials[i]);
            }

            if (address != 0)
            {
                long untouched = address < 0 ? bytes : source.UntouchedBytes((nint)address, bytes);
                using (ownersLock.Enter())
                {
                    if (_serials[i] == serial)
                    {
                        Settle(i, untouched, nowMilliseconds);
                    }
                }
            }
        }

        using (ownersLock.Enter())
        {
            int unsettled = 0;
            for (int i = 0; i < Capacity; i++)
            {
                unsettled += IsUnsettled(i) ? 1 : 0;
            }

            Volatile.Write(ref _unsettled, unsettled);
        }
    }

    /// <summary>Adds up what was not used at the last look, with what others announced or without.</summary>
    public long Sum(bool withAnnounced)
    {
        long sum = 0;
        for (int i = 0; i < Capacity && _unsettled > 0; i++)
        {
            bool counts = IsUnsettled(i) && (withAnnounced || Volatile.Read(ref _addresses[i]) > 0);
            sum = ByteCount.Add(sum, counts ? _untouched[i] : 0);
        }

        return sum;
    }

    private void Settle(int index, long untouched, long nowMilliseconds)
    {
        if (untouched < _untouched[index])
        {
            _milliseconds[index] = nowMilliseconds;
            _untouched[index] = untouched;
        }
        else if (nowMilliseconds - _milliseconds[index] >= LifetimeMilliseconds)
        {
            // What was written to swap is not resident either.
            _untouched[index] = 0;
        }
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
