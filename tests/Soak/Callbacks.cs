using ContractSuite.Loading;

namespace Soak;

/// <summary>The callbacks for blocks that get or lose their memory: now and then they throw. Thread-safe.</summary>
internal sealed class Callbacks
{
    private const int CommitsBetweenFailures = 50;
    private const int ReleasesBetweenFailures = 10;

    private int _committed;
    private int _releasing;
    private int _throws = 1;

    /// <summary>From here on nothing is thrown.</summary>
    public void Stop() => Volatile.Write(ref _throws, 0);

    public void Committed(nint address, long lengthInBytes) => Count(ref _committed, CommitsBetweenFailures);

    public void Releasing(nint address, long lengthInBytes) => Count(ref _releasing, ReleasesBetweenFailures);

    private void Count(ref int calls, int between)
    {
        if (Interlocked.Increment(ref calls) % between == 0 && Volatile.Read(ref _throws) != 0)
        {
            throw new CallbackException();
        }
    }
}
