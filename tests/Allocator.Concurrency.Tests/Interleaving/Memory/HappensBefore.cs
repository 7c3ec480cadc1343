namespace Allocator.Concurrency.Interleaving.Memory;

/// <summary>
/// What each thread of a schedule knows to have happened, by the .NET memory model alone: by what it read of what another had released.
/// Finds accesses of two threads that nothing orders, of which one is plain and one writes, in whatever order they ran.
/// </summary>
internal sealed class HappensBefore
{
    private const int Kinds = 4;

    // Own components are epochs: a new one begins with each release.
    private readonly int[][] _known;
    private readonly Dictionary<nint, int[]> _released = [];
    private readonly Dictionary<nint, History> _histories = [];
    private (nint Address, int[]? Released) _before;

    public HappensBefore(int workers)
    {
        _known = new int[workers][];
        for (int i = 0; i < workers; i++)
        {
            _known[i] = new int[workers];
            _known[i][i] = 1;
        }
    }

    /// <summary>Returns what a thread that reads of this one's next store learns of.</summary>
    public int[] Publish(int worker)
    {
        int[] published = (int[])_known[worker].Clone();
        _known[worker][worker]++;
        return published;
    }

    /// <summary>Notes that a store, or a release of a lock, is there to be read; null where it was not ordered.</summary>
    public void Release(nint address, int[]? published)
    {
        if (published is null)
        {
            _released.Remove(address);
        }
        else
        {
            _released[address] = published;
        }
    }

    public void Acquire(int worker, nint address)
    {
        if (_released.TryGetValue(address, out int[]? released))
        {
            for (int i = 0; i < released.Length; i++)
            {
                _known[worker][i] = Math.Max(_known[worker][i], released[i]);
            }
        }
    }

    /// <summary>Notes a read and a write in one.</summary>
    public void Update(int worker, nint address)
    {
        _before = (address, _released.GetValueOrDefault(address));
        Acquire(worker, address);
        _released[address] = Publish(worker);
    }

    /// <summary>Says that the last of these has only read.</summary>
    public void HasOnlyRead() => Release(_before.Address, _before.Released);

    /// <summary>
    /// Notes an access, or one that the release just noted is a part of; returns another thread's that is not ordered with it, or null.
    /// </summary>
    public object? Access(int worker, nint address, AccessKind kind, object site, bool isReleased)
    {
        if (!_histories.TryGetValue(address, out History? history))
        {
            history = new History(_known.Length);
            _histories.Add(address, history);
        }

        int[] known = _known[worker];
        int own = worker * Kinds + (int)kind;
        history.Epochs[own] = known[worker] - (isReleased ? 1 : 0);
        history.Sites[own] = site;
        for (int i = 0; i < history.Epochs.Length; i++)
        {
            int other = i / Kinds;
            if (history.Epochs[i] > known[other] && other != worker && Compete(kind, (AccessKind)(i % Kinds)))
            {
                return history.Sites[i];
            }
        }

        return null;
    }

    private static bool Compete(AccessKind one, AccessKind other) =>
        (one is AccessKind.PlainRead or AccessKind.PlainWrite || other is AccessKind.PlainRead or AccessKind.PlainWrite)
        && (one is AccessKind.PlainWrite or AccessKind.AtomicWrite || other is AccessKind.PlainWrite or AccessKind.AtomicWrite);

    // The last access of each thread and kind.
    private sealed class History
    {
        public History(int workers)
        {
            Epochs = new int[workers * Kinds];
            Sites = new object[workers * Kinds];
        }

        public int[] Epochs { get; }

        public object[] Sites { get; }
    }
}
