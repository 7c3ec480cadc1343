namespace Allocator.Lifetime;

/// <summary>Collects the parts of a group in order, before the rent begins.</summary>
internal struct GuardChain
{
    private FinalizableGuard? _last;

    public FinalizableGuard? First { get; private set; }

    public void Add(FinalizableGuard part)
    {
        if (_last is null)
        {
            First = part;
        }
        else
        {
            _last.Append(part);
        }

        _last = part;
    }
}
