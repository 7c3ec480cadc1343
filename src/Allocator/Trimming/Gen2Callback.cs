using System.Runtime.ConstrainedExecution;

namespace Allocator.Trimming;

/// <summary>
/// Lets a timer act after each Gen2 collection: nothing references it strongly, its finalizer runs when it is collected, and it
/// registers itself again. After its first two collections it lies in gen 2, and is collected with it. The finalizer only wakes the
/// thread that does the work.
/// </summary>
internal sealed class Gen2Callback : CriticalFinalizerObject
{
    private readonly Registration _registration;

    private Gen2Callback(Registration registration) => _registration = registration;

    ~Gen2Callback()
    {
        if (Environment.HasShutdownStarted
            || _registration.IsStopped
            || !_registration.Timer.TryGetTarget(out TrimTimer? timer))
        {
            return;
        }

        int collections = GC.CollectionCount(2);
        if (collections != _registration.CollectionsSeen)
        {
            _registration.CollectionsSeen = collections;
            BackgroundThread.Shared.Queue(timer);
        }

        try
        {
            GC.ReRegisterForFinalize(this);
        }
        catch (OutOfMemoryException)
        {
            // The timer makes another one at its next tick.
            _registration.IsStopped = true;
        }
    }

    /// <summary>Starts calling <see cref="TrimTimer.Tick"/> after every Gen2 collection, while the timer lives.</summary>
    public static Registration Register(TrimTimer timer)
    {
        Registration registration = new(timer);
        _ = new Gen2Callback(registration);
        return registration;
    }

    /// <summary>What the timer holds of its callback, so that it can end it.</summary>
    public sealed class Registration
    {
        public Registration(TrimTimer timer) => Timer = new WeakReference<TrimTimer>(timer);

        public WeakReference<TrimTimer> Timer { get; }

        public int CollectionsSeen { get; set; } = GC.CollectionCount(2);

        /// <summary>Gets or sets whether it is not called any more. A call that another thread has begun goes on.</summary>
        public bool IsStopped { get; set; }
    }
}
