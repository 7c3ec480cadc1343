using System.Runtime.ConstrainedExecution;

namespace Allocator.Trimming;

/// <summary>
/// Wakes a timer after each Gen2 collection. Nothing references it, so its finalizer runs when it is collected, and registers it again
/// while the timer runs. After its first two collections it is in gen 2, and is collected with it.
/// </summary>
internal sealed class Gen2Callback(WeakReference<TrimTimer> timer) : CriticalFinalizerObject
{
    // The timer keeps it too: otherwise it could be finalized first.
    private readonly WeakReference<TrimTimer> _timer = timer;
    private int _collections = GC.CollectionCount(2);

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
