namespace Allocator.Trimming;

/// <summary>
/// Decides whether an allocator's outstanding memory has grown so much since the last search for abandoned memory that the next one cannot
/// wait for its time. Races cost one search more or less.
/// </summary>
internal sealed class OutstandingGrowth
{
    /// <summary>The shortest time between two searches because of growth.</summary>
    public static readonly TimeSpan ShortestInterval = TimeSpan.FromSeconds(1);

    private const int MostDoublings = 20;

    private long _outstanding;
    private long _abandoned = -1;
    private int _fruitless;

    /// <summary>Returns whether outstanding memory has grown by a step. The step doubles with each search that found nothing.</summary>
    public bool IsDue(long outstandingBytes, long stepBytes)
    {
        long last = Volatile.Read(ref _outstanding);
        if (outstandingBytes < last)
        {
            Volatile.Write(ref _outstanding, outstandingBytes);
            return false;
        }

        return outstandingBytes - last >= stepBytes << _fruitless;
    }

    /// <summary>Notes a search.</summary>
    /// <param name="outstandingBytes">The outstanding bytes before it.</param>
    /// <param name="abandoned">How many abandoned allocations were found so far, by earlier searches.</param>
    public void NoteSearch(long outstandingBytes, long abandoned)
    {
        _fruitless = abandoned > _abandoned ? 0 : Math.Min(_fruitless + 1, MostDoublings);
        _abandoned = abandoned;
        Volatile.Write(ref _outstanding, outstandingBytes);
    }
}
