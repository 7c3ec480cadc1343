namespace Allocator.Analyzers.Lattice;

/// <summary>What is known about all variables and allocations at one point of a body. All masks hold one bit for each allocation.</summary>
internal sealed class FlowState
{
    // Shared by clones until one of them changes: most statements change no variable.
    private Holding[] _variables;
    private bool _isShared;

    public FlowState(int variables) => _variables = new Holding[variables];

    /// <summary>Gets or sets the allocations that may be reachable through something that is not followed.</summary>
    public ulong Escaped { get; set; }

    /// <summary>Gets or sets the allocations kept by an object that this body makes: a closure, the state of an async method.</summary>
    public ulong Reachable { get; set; }

    /// <summary>Gets or sets the allocations whose owner, not only memory, may have gone to a place that is not followed.</summary>
    public ulong OwnerEscaped { get; set; }

    /// <summary>Gets or sets the allocations that may be pinned. They stay valid past their disposal.</summary>
    public ulong Pinned { get; set; }

    /// <summary>Gets or sets the allocations that are disposed on some path.</summary>
    public ulong Disposed { get; set; }

    /// <summary>Gets or sets the allocations that are made and not disposed on some path.</summary>
    public ulong Undisposed { get; set; }

    /// <summary>Gets or sets the allocations that are not made on some path.</summary>
    public ulong Absent { get; set; } = ulong.MaxValue;

    /// <summary>Gets or sets the allocations that other code may have on some path: owner, memory, or an object that holds it.</summary>
    public ulong Handed { get; set; }

    /// <summary>Gets or sets the allocations that a task uses on some path. It was begun and not awaited.</summary>
    public ulong Running { get; set; }

    /// <summary>Gets or sets the allocations that no such task uses on some path.</summary>
    public ulong Settled { get; set; }

    /// <summary>Gets or sets the stores (one bit each, not one per allocation) that are still in effect on some path.</summary>
    public ulong Stored { get; set; }

    /// <summary>Gets or sets the stores that something may have overwritten on some path.</summary>
    public ulong Overwritten { get; set; }

    /// <summary>Gets the stores that are still in effect on every path on which they were made.</summary>
    public ulong SurelyStored => Stored & ~Overwritten;

    /// <summary>Gets the allocations that are disposed on every path on which they exist.</summary>
    public ulong SurelyDisposed => Disposed & ~Undisposed;

    /// <summary>Gets the allocations that are made on every path and disposed on none.</summary>
    public ulong SurelyUndisposed => Undisposed & ~Disposed & ~Absent;

    /// <summary>Gets the allocations that a task uses on every path.</summary>
    public ulong SurelyRunning => Running & ~Settled;

    public int Count => _variables.Length;

    private ulong Exists => Disposed | Undisposed;

    public Holding this[int variable]
    {
        get => _variables[variable];
        set
        {
            if (_variables[variable].Is(value))
            {
                return;
            }

            if (_isShared)
            {
                _variables = (Holding[])_variables.Clone();
                _isShared = false;
            }

            _variables[variable] = value;
        }
    }

    public FlowState Clone()
    {
        _isShared = true;
        return (FlowState)MemberwiseClone();
    }

    /// <summary>Merges the state of another path.</summary>
    /// <returns>Whether that was anything new.</returns>
    public bool Join(FlowState other)
    {
        bool changed = false;
        Holding[] others = other._variables;
        for (int i = 0; i < _variables.Length && _variables != others; i++)
        {
            Holding joined = Holding.Join(_variables[i], Exists, others[i], other.Exists);
            if (!joined.Is(_variables[i]))
            {
                this[i] = joined;
                changed = true;
            }
        }

        return changed | JoinMasks(other);
    }

    /// <summary>
    /// Drops everything known about <paramref name="sites"/>, because they are allocated again or do not exist on this path.
    /// </summary>
    public void Forget(ulong sites)
    {
        for (int i = 0; i < _variables.Length; i++)
        {
            this[i] = _variables[i].Without(sites);
        }

        Escaped &= ~sites;
        OwnerEscaped &= ~sites;
        Pinned &= ~sites;
        Disposed &= ~sites;
        Undisposed &= ~sites;
        Reachable &= ~sites;
        Absent |= sites;
        Handed &= ~sites;
        Running &= ~sites;
        Settled &= ~sites;
    }

    public void Escape(Holding value)
    {
        Escaped |= value.Keep;
        OwnerEscaped |= value.Own;
        Handed |= value.Keep;
        Settle(value.Held);
    }

    /// <summary>Notes that a task uses <paramref name="sites"/> from now on.</summary>
    public void Begin(ulong sites)
    {
        Running |= sites;
        Settled &= ~sites;
    }

    /// <summary>Notes that the tasks that use <paramref name="sites"/> have ended, or that other code takes care of them.</summary>
    public void Settle(ulong sites)
    {
        Running &= ~sites;
        Settled |= sites;
    }

    /// <summary>Notes that <paramref name="stores"/> are made.</summary>
    public void Store(ulong stores)
    {
        Stored |= stores;
        Overwritten &= ~stores;
    }

    /// <summary>Notes that <paramref name="stores"/> may be overwritten, if they were made.</summary>
    public void Overwrite(ulong stores)
    {
        Overwritten |= Stored & stores;
        Stored &= ~stores;
    }

    private bool JoinMasks(FlowState other)
    {
        ulong added = (other.Escaped & ~Escaped) | (other.OwnerEscaped & ~OwnerEscaped) | (other.Pinned & ~Pinned)
            | (other.Disposed & ~Disposed) | (other.Undisposed & ~Undisposed) | (other.Stored & ~Stored)
            | (other.Overwritten & ~Overwritten) | (other.Handed & ~Handed) | (other.Running & ~Running)
            | (other.Settled & ~Settled) | (other.Reachable & ~Reachable) | (other.Absent & ~Absent);
        Escaped |= other.Escaped;
        OwnerEscaped |= other.OwnerEscaped;
        Pinned |= other.Pinned;
        Disposed |= other.Disposed;
        Undisposed |= other.Undisposed;
        Stored |= other.Stored;
        Overwritten |= other.Overwritten;
        Reachable |= other.Reachable;
        Absent |= other.Absent;
        Handed |= other.Handed;
        Running |= other.Running;
        Settled |= other.Settled;
        return added != 0;
    }
}
