namespace Allocator;

/// <summary>What <see cref="Background"/> knows of one piece of work.</summary>
internal struct BackgroundState
{
    /// <summary>The next one in the list of what is tried again; null where this one is not in it.</summary>
    public IBackgroundWork? Next;

    /// <summary>1 where it was queued, or failed, and has not begun since.</summary>
    public int IsPending;
}
