namespace Allocator;

/// <summary>Work without a caller. It is its own place in the list of what is tried again, which therefore needs no memory.</summary>
internal interface IBackgroundWork
{
    /// <summary>Gets what <see cref="Background"/> knows of it, and nothing else uses.</summary>
    ref BackgroundState State { get; }

    /// <summary>Does the work. Where it throws it is called again later, and goes on where it was.</summary>
    void DoWork();
}

/// <summary>What <see cref="Background"/> knows of one piece of work.</summary>
internal struct BackgroundState
{
    /// <summary>The next one in the list of what is tried again, itself for the last; null where this one is not in it.</summary>
    public IBackgroundWork? Next;

    /// <summary>1 where it was queued, or failed, and has not begun since.</summary>
    public int IsPending;
}
