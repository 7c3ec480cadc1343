namespace Allocator.AspNetCore.Admission;

/// <summary>The outcomes of the requests of one allocator. Fields, for interlocked additions.</summary>
internal sealed class AdmissionCounts
{
    public long Waiting;
    public long Admitted;
    public long Refused;

    private long _largestBytes;

    /// <summary>Gets the largest need of a request: its estimate or, without one, what it took.</summary>
    public long LargestBytes => Volatile.Read(ref _largestBytes);

    public void NoteLargest(long bytes)
    {
        long largest = LargestBytes;
        while (bytes > largest && Interlocked.CompareExchange(ref _largestBytes, bytes, largest) is var found && found != largest)
        {
            largest = found;
        }
    }
}
