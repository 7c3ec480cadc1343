namespace ContractSuite.Loading;

/// <summary>One buffer of any kind with what was written into it.</summary>
internal sealed class Holding
{
    private readonly List<Stamp> _stamps = [];
    private IDisposable? _owner;
    private Func<int, Memory<byte>>? _parts;

    /// <summary>Stamps all parts of a buffer.</summary>
    /// <param name="owner">The owner.</param>
    /// <param name="parts">Gives its parts by number.</param>
    /// <param name="count">The number of parts.</param>
    public Holding(IDisposable owner, Func<int, Memory<byte>> parts, int count)
    {
        _owner = owner;
        _parts = parts;
        for (int i = 0; i < count; i++)
        {
            _stamps.Add(Stamp.Write(parts(i).Span));
        }
    }

    public bool IsIntact
    {
        get
        {
            for (int i = 0; i < _stamps.Count; i++)
            {
                if (!_stamps[i].IsOn(_parts!(i).Span))
                {
                    return false;
                }
            }

            return true;
        }
    }

    public void Dispose() => _owner!.Dispose();

    /// <summary>Forgets the owner, and does not dispose of it.</summary>
    public void Abandon()
    {
        _owner = null;
        _parts = null;
    }
}
