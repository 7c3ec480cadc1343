using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// The end of a rent whose owner was collected without <c>Dispose</c>: it is reported once, and the memory then stays in quarantine. Only
/// the background thread uses it, which may have to begin again if managed memory runs out.
/// </summary>
internal sealed class Abandonment(AllocatorContext context)
{
    private bool _isReported;

    // The end of the stay in quarantine; 0 if the memory is not there.
    private long _stayEnds;
    private int _collectionsBefore;

    public void Report(RentState rent, AllocationTrace? trace)
    {
        if (!_isReported)
        {
            TimeSpan age = TimeSpan.FromMilliseconds(Math.Max(0, context.Clock.NowMilliseconds - rent.RentedAtMilliseconds));
            MemoryDiagnostics.ReportAbandoned(
                new AbandonedMemoryEventArgs(rent.AllocationBytes, age, trace?.StackTrace)
                {
                    AllocatorName = context.Counters.AllocatorName,
                });
            _isReported = true;
        }
    }

    /// <summary>
    /// Returns whether the memory may be rented again: after at least one further Gen2 collection and one trim period, or at once if it
    /// will not be rented again. The first call begins the stay.
    /// </summary>
    public bool IsStayOver()
    {
        if (_stayEnds == 0)
        {
            _collectionsBefore = GC.CollectionCount(2);
            _stayEnds = context.Quarantine.Enter(context.QuarantineMilliseconds);
        }

        return context.IsClosed || context.Quarantine.IsClosed
            || (GC.CollectionCount(2) != _collectionsBefore && context.Clock.NowMilliseconds >= _stayEnds);
    }

    public void EndStay()
    {
        if (_stayEnds != 0)
        {
            _stayEnds = 0;
            context.Quarantine.Leave();
        }
    }
}
