namespace Allocator.Tests.Fuzzing;

/// <summary>
/// The user's callbacks: those of a device that knows all blocks with memory, and throws from a call on for some calls, as the seed says.
/// </summary>
internal sealed class FuzzCallbacks
{
    private readonly FakeMemorySource _source;
    private readonly RegisteredBlocks _device = new();

    // Those that the device did not let go of when it was last asked to.
    private readonly HashSet<nint> _held = [];

    // Those that it did not take.
    private readonly HashSet<nint> _refused = [];
    private (int From, int Count) _failingCommits;
    private (int From, int Count) _failingReleases;
    private (nint Address, int Commits) _released;
    private int _failures;

    public FuzzCallbacks(FakeMemorySource source) => _source = source;

    /// <summary>Gets how many blocks the device knows.</summary>
    public int Count => _device.Count;

    /// <summary>Gets how many of these it did not let go of.</summary>
    public int HeldCount => _held.Count;

    /// <summary>Gets how many blocks that the device did not take have memory all the same: the system refused to have it back.</summary>
    public int UnknownCount => _refused.Count(_source.IsCommitted);

    /// <summary>Gets the first thing that went wrong with an address; null where nothing did.</summary>
    public string? Error => _device.Error;

    /// <summary>Gets what was thrown first since <see cref="BeginCall"/>, and first for a block that a request wants.</summary>
    public (Exception? First, Exception? OfRequest) Thrown { get; private set; }

    /// <summary>Gets how many blocks the device has not let go of since <see cref="BeginCall"/>.</summary>
    public int ThrownReleases { get; private set; }

    public void BeginCall()
    {
        Thrown = default;
        ThrownReleases = 0;
    }

    /// <summary>Says which calls throw from here on, counted from 1: none where the count is 0.</summary>
    public void Fail((int From, int Count) commits, (int From, int Count) releases)
    {
        _failingCommits = commits;
        _failingReleases = releases;
    }

    public void Committed(nint address, long lengthInBytes)
    {
        // A block that the system refused to take comes back to the device, and no request waits for it.
        bool isTakenBack = _released == (address, _source.Commits);
        _released = default;
        if (Fails(ref _failingCommits))
        {
            _refused.Add(address);
            throw Note(isOfRequest: !isTakenBack);
        }

        _refused.Remove(address);
        _device.Register(address, lengthInBytes);
    }

    public void Releasing(nint address, long lengthInBytes)
    {
        if (Fails(ref _failingReleases))
        {
            ThrownReleases++;
            _held.Add(address);
            throw Note(isOfRequest: false);
        }

        _held.Remove(address);
        _released = (address, _source.Commits);
        _device.Unregister(address, lengthInBytes);
    }

    private static bool Fails(ref (int From, int Count) calls) => calls.Count > 0 && --calls.From <= 0 && calls.Count-- > 0;

    // What the library itself throws and catches, too.
    private Exception Note(bool isOfRequest)
    {
        _failures++;
        Exception exception = _failures % 2 == 0
            ? new OutOfMemoryException("the device has no memory")
            : new InvalidOperationException("the device refuses");
        Thrown = (Thrown.First ?? exception, Thrown.OfRequest ?? (isOfRequest ? exception : null));
        return exception;
    }
}
