namespace Allocator.Diagnostics;

/// <summary>
/// Runs the user's hooks and handlers that have no caller, on a thread of their own, because they may block for ever. The library's other
/// thread watches how long each takes. Thread-safe.
/// </summary>
internal static class UserCallbacks
{
    private const int SlowMilliseconds = 1000;

    private static readonly Watch s_watch = new();
    private static volatile bool s_areWanted;

    public static BackgroundThread Thread { get; } = new("Allocator callbacks");

    /// <summary>Notes that there is a hook or a handler: from the first outstanding memory on there is a thread for it.</summary>
    public static void Want()
    {
        s_areWanted = true;
        if (BackgroundThread.Shared.IsRunning)
        {
            Thread.Ensure();
        }
    }

    /// <summary>Makes sure that the threads exist for work without a caller. Called before memory is outstanding.</summary>
    public static void EnsureThreads()
    {
        BackgroundThread.Shared.Ensure();
        if (s_areWanted)
        {
            Thread.Ensure();
        }
    }

    /// <summary>Returns the thread for work that may call the user's code, or for other work.</summary>
    public static BackgroundThread ThreadFor(bool callsUser) => callsUser ? Thread : BackgroundThread.Shared;

    /// <summary>Notes that the user's code is called now. Does nothing if that code has a caller.</summary>
    public static void Begin(string name)
    {
        ShortLock.AssertNoneHeld();
        Debug.Assert(!BackgroundThread.ForbidsUserCode, "The user's code may block for ever, and ticks with it.");
        if (Thread.IsCurrent)
        {
            s_watch.Begin(name);
        }
    }

    public static void End()
    {
        if (Thread.IsCurrent)
        {
            BackgroundThread.Shared.Cancel(s_watch);
        }
    }

    public static void Close()
    {
        Thread.Close();
        BackgroundThread.Long.Close();
        BackgroundThread.Shared.Close();
    }

    private sealed class Watch : IBackgroundWork
    {
        private BackgroundState _work;
        private string _name = "";
        private long _begun;

        public ref BackgroundState State => ref _work;

        public void Begin(string name)
        {
            Volatile.Write(ref _begun, Environment.TickCount64);
            Volatile.Write(ref _name, name);
            BackgroundThread.Shared.RunBy(this, _begun + SlowMilliseconds);
        }

        public void DoWork() =>
            AllocatorEventSource.Log.CallbackSlow(Environment.TickCount64 - Volatile.Read(ref _begun), Volatile.Read(ref _name));
    }
}
