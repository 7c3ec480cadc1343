namespace Allocator;

/// <summary>Work without a caller. It is its own node in the lists of work, which therefore need no memory.</summary>
internal interface IBackgroundWork
{
    /// <summary>Gets the lists' record of it, which nothing else uses.</summary>
    ref BackgroundState State { get; }

    /// <summary>Does the work. If it throws, it is called again later, and continues from that point.</summary>
    void DoWork();
}

/// <summary>The place of one piece of work in a list.</summary>
internal struct BackgroundState
{
    /// <summary>The next one, or the list itself. Null if the work is in no list.</summary>
    public IBackgroundWork? Next;

    public IBackgroundWork? Previous;

    /// <summary>When it is to be done at the latest.</summary>
    public long Due;
}

/// <summary>A ring of work, sorted by time. The list itself links the last to the first. Used under a lock.</summary>
internal sealed class BackgroundList : IBackgroundWork
{
    private BackgroundState _ends;

    public BackgroundList() => _ends.Next = _ends.Previous = this;

    public IBackgroundWork? First => _ends.Next == this ? null : _ends.Next;

    ref BackgroundState IBackgroundWork.State => ref _ends;

    /// <summary>Removes work from its list, if it is in one.</summary>
    public static void Remove(IBackgroundWork work)
    {
        ref BackgroundState state = ref work.State;
        if (state.Next is not null)
        {
            state.Next.State.Previous = state.Previous;
            state.Previous!.State.Next = state.Next;
            state.Next = state.Previous = null;
        }
    }

    /// <summary>Adds work behind all that is due no later. Searches from the end, because most waits are equally long.</summary>
    public void Add(IBackgroundWork work, long dueMilliseconds)
    {
        IBackgroundWork previous = _ends.Previous!;
        while (previous != this && previous.State.Due > dueMilliseconds)
        {
            previous = previous.State.Previous!;
        }

        ref BackgroundState state = ref work.State;
        Debug.Assert(state.Next is null, "The work is in a list.");
        state.Due = dueMilliseconds;
        state.Previous = previous;
        state.Next = previous.State.Next;
        state.Next!.State.Previous = work;
        previous.State.Next = work;
    }

    void IBackgroundWork.DoWork()
    {
    }
}
