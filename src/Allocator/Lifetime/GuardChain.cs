namespace Allocator.Lifetime;

/// <summary>Collects the parts of a group in order, before the rent begins.</summary>
internal struct GuardChain
{
    public NativeGuard? First { get; private set; }

    public NativeGuard? Last { get; private set; }

    public int Count { get; private set; }

    public void Add(NativeGuard part)
    {
        if (Last is null)
        {
            First = part;
        }
        else
        {
            Last.Append(part);
        }

        Last = part;
        Count++;
    }
}
