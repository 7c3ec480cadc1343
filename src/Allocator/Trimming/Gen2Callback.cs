using System.Runtime.ConstrainedExecution;

namespace Allocator.Trimming;

/// <summary>
/// Lets a scheduler act after each Gen2 collection: nothing references it strongly, its finalizer runs when it is collected, and it
/// registers itself again. After its first two collections it lies in gen 2, and is collected with it. The work is done on the thread
/// pool, never by the finalizer.
/// </summary>
internal sealed class Gen2Callback : CriticalFinalizerObject
{
    private readonly Registration _registration;

    private Gen2Callback(Registration registration) => _registration = registration;

    ~Gen2Callback()
    {
        if (Environment.HasShutdownStarted
            || _registration.IsStopped
            || !_registration.Scheduler.TryGetTarget(out TrimScheduler? scheduler))
        {
            return;
        }

        int collections = GC.CollectionCount(2);
        if (collections != _registration.CollectionsSeen)
        {
            _registration.CollectionsSeen = collections;
            Background.Queue(scheduler);
        }

        try
        {
            GC.ReRegisterForFinalize(this);
        }
        catch (OutOfMemoryException)
        {
            // The scheduler makes another one at its next tick.
            _registration.IsStopped = true;
        }
    }

    /// <summary>Starts calling <see cref="TrimScheduler.Tick"/> after every Gen2 collection, while the scheduler lives.</summary>
    public static Registration Register(TrimScheduler scheduler)
    {
        Registration registration = new(scheduler);
        _ = new Gen2Callback(registration);
        return registration;
    }

    /// <summary>What the scheduler holds of its callback, so that it can end it.</summary>
    public sealed class Registration
    {
        public Registration(TrimScheduler scheduler) => Scheduler = new WeakReference<TrimScheduler>(scheduler);

        public WeakReference<TrimScheduler> Scheduler { get; }

        public int CollectionsSeen { get; set; } = GC.CollectionCount(2);

        /// <summary>Gets or sets whether it is not called any more. A call that another thread has begun goes on.</summary>
        public bool IsStopped { get; set; }
    }
}
