using System.Runtime.ConstrainedExecution;

namespace Allocator.Trimming;

/// <summary>
/// Wakes a timer after each Gen2 collection. Nothing references it, so its finalizer runs when it is collected, and registers it again
/// while the timer runs. After its first two collections it lies in gen 2, and is collected with it.
/// </summary>
internal sealed class Gen2Callback : CriticalFinalizerObject
{
    private readonly WeakReference<TrimTimer> _timer;
    private int _collections = GC.CollectionCount(2);

    /// <summary>Makes one for a timer. The timer keeps the reference too: otherwise the reference could be finalized first.</summary>
    public Gen2Callback(WeakReference<TrimTimer> timer) => _timer = timer;

    ~Gen2Callback()
    {
        // If the constructor failed, there is no timer.
        TrimTimer? timer = null;
        if (Environment.HasShutdownStarted || _timer?.TryGetTarget(out timer) != true)
        {
            return;
        }

        int collections = GC.CollectionCount(2);
        bool isNew = collections != _collections;
        _collections = collections;
        if (timer!.TryWake(isNew))
        {
            try
            {
                GC.ReRegisterForFinalize(this);
            }
            catch (OutOfMemoryException)
            {
                timer.ForgetCallback();
            }
        }
    }
}
