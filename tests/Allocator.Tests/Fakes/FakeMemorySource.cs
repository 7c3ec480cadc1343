using System.Collections.Concurrent;
using Allocator.Allocators;

namespace Allocator.Tests.Fakes;

/// <summary>
/// The system's memory behind a counter: refuses when told to, keeps a ledger of what is out, and fails loudly on a wrong address.
/// </summary>
internal sealed class FakeMemorySource : VirtualMemorySource
{
    private readonly VirtualMemorySource _system;
    private readonly ConcurrentDictionary<nint, long> _allocations = new();
    private readonly ConcurrentDictionary<nint, long> _reservations = new();
    private readonly ConcurrentDictionary<nint, long> _commitments = new();
    private int _calls;
    private int _refusals;
    private int _commits;
    private int _purges;
    private int _purgesAllowed = int.MaxValue;

    public FakeMemorySource(VirtualMemorySource? system = null, int pageSizeInBytes = 4096)
        : base(pageSizeInBytes) => _system = system ?? Create(HugePages.Off, AllocatorSettings.DefaultOverreadTolerance);

    /// <summary>Gets or sets the first call (reserve, commit, allocate or one of the seals) that is refused, counted from 1.</summary>
    public int RefuseFrom { get; set; } = int.MaxValue;

    /// <summary>Gets or sets how many calls are refused from there on.</summary>
    public int RefuseCount { get; set; } = int.MaxValue;

    /// <summary>Gets or sets a filter for what is refused; all kinds by default.</summary>
    public Func<string, bool> Refuses { get; set; } = static _ => true;

    /// <summary>Gets the first call that was not about whole pages; null where there was none.</summary>
    public string? Misaligned { get; private set; }

    /// <summary>Gets or sets what is said about fresh memory; null for the truth.</summary>
    public bool? ClaimsZeroed { get; set; }

    /// <summary>Gets or sets a byte that fresh memory is filled with, behind the library's back.</summary>
    public byte? FillFresh { get; set; }

    /// <summary>Gets or sets what happens in the middle of a purge or a free.</summary>
    public Action? OnPurge { get; set; }

    public Action? OnFree { get; set; }

    /// <summary>Gets or sets which addresses are not purged, as if their pages were locked.</summary>
    public Func<nint, bool> RefusesPurge { get; set; } = static _ => false;

    public override bool MapsZeroed => ClaimsZeroed ?? _system.MapsZeroed;

    public int Calls => _calls;

    /// <summary>Gets how many calls were refused.</summary>
    public int Refusals => _refusals;

    /// <summary>Gets how often a part of a reservation has got memory.</summary>
    public int Commits => _commits;

    public int Purges => _purges;

    public int PurgesAllowed
    {
        get => _purgesAllowed;
        set => _purgesAllowed = value;
    }

    public int LiveAllocations => _allocations.Count;

    public int LiveReservations => _reservations.Count;

    /// <summary>Gets how many parts of reservations have memory.</summary>
    public int LiveCommitments => _commitments.Count;

    public bool IsCommitted(nint address) => _commitments.ContainsKey(address);

    /// <summary>Gets the bytes that the system has given and not got back.</summary>
    public long LiveBytes => _allocations.Values.Sum() + _commitments.Values.Sum();

    public void Restart()
    {
        _calls = 0;
        RefuseFrom = int.MaxValue;
    }

    public override nint TryReserve(long lengthInBytes, long partInBytes)
    {
        Check("reserve", 0, lengthInBytes);
        Check("part", 0, partInBytes);
        if (IsRefused("reserve"))
        {
            return 0;
        }

        nint address = _system.TryReserve(lengthInBytes, partInBytes);
        _reservations[address] = lengthInBytes;
        return address;
    }

    public override bool TryCommit(nint address, long lengthInBytes, out bool zeroed)
    {
        zeroed = false;
        Check("commit", address, lengthInBytes);
        if (IsRefused("commit") || !_system.TryCommit(address, lengthInBytes, out zeroed))
        {
            return false;
        }

        _commitments[address] = lengthInBytes;
        Interlocked.Increment(ref _commits);
        MarkFresh(address, lengthInBytes, ref zeroed);
        return true;
    }

    public override bool TryPurge(nint address, long lengthInBytes)
    {
        Check("purge", address, lengthInBytes);
        OnPurge?.Invoke();
        return Interlocked.Increment(ref _purges) <= _purgesAllowed
            && !RefusesPurge(address)
            && _system.TryPurge(address, lengthInBytes)
            && _commitments.TryRemove(address, out _);
    }

    public override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed)
    {
        zeroed = false;
        Check("allocate", 0, lengthInBytes);
        if (IsRefused("allocate"))
        {
            return 0;
        }

        // Where pages are larger than here, what the system gives begins on one of those.
        nint address = _system.TryAllocate(lengthInBytes, (int)Math.Max(alignmentInBytes, PageSizeInBytes), out zeroed);
        _allocations[address] = lengthInBytes;
        MarkFresh(address, lengthInBytes, ref zeroed);
        return address;
    }

    public override void Free(nint address, long lengthInBytes)
    {
        Check("free", address, lengthInBytes);
        bool isReservation = _reservations.ContainsKey(address);
        if (!isReservation)
        {
            OnFree?.Invoke();
        }

        Remove(isReservation ? _reservations : _allocations, address, lengthInBytes);
        foreach (nint committed in _commitments.Keys.Where(committed => committed >= address && committed < address + lengthInBytes))
        {
            _commitments.TryRemove(committed, out _);
        }

        _system.Free(address, lengthInBytes);
    }

    /// <summary>Gets how many bytes were made resident.</summary>
    public long PopulatedBytes { get; private set; }

    public override bool TryPopulate(nint address, long lengthInBytes)
    {
        Check("populate", address, lengthInBytes);
        if (IsRefused("populate") || !_system.TryPopulate(address, lengthInBytes))
        {
            return false;
        }

        PopulatedBytes += lengthInBytes;
        return true;
    }

    public override bool TryProtect(nint address, long lengthInBytes) =>
        Check("seal", address, lengthInBytes) && !IsRefused("seal") && _system.TryProtect(address, lengthInBytes);

    public override bool TryUnprotect(nint address, long lengthInBytes) =>
        Check("unseal", address, lengthInBytes) && !IsRefused("unseal") && _system.TryUnprotect(address, lengthInBytes);

    public override bool TryDecommitAndProtect(nint address, long lengthInBytes) =>
        Check("seal empty", address, lengthInBytes) && !IsRefused("seal empty") && _system.TryDecommitAndProtect(address, lengthInBytes);

    // Always true.
    private bool Check(string kind, nint address, long lengthInBytes)
    {
        if (lengthInBytes <= 0 || lengthInBytes % PageSizeInBytes != 0 || address % (nint)PageSizeInBytes != 0)
        {
            Misaligned ??= $"{kind} of {lengthInBytes} bytes at {address:x}";
        }

        return true;
    }

    private static void Remove(ConcurrentDictionary<nint, long> ledger, nint address, long lengthInBytes)
    {
        if (!ledger.TryRemove(address, out long length) || length != lengthInBytes)
        {
            Environment.FailFast($"{address:x} was freed with {lengthInBytes} bytes, allocated with {length}.");
        }
    }

    private unsafe void MarkFresh(nint address, long lengthInBytes, ref bool zeroed)
    {
        zeroed = ClaimsZeroed ?? zeroed;
        if (FillFresh is byte value)
        {
            new Span<byte>((void*)address, (int)lengthInBytes).Fill(value);
        }
    }

    private bool IsRefused(string kind)
    {
        if (!Refuses(kind))
        {
            return false;
        }

        int call = Interlocked.Increment(ref _calls);
        bool isRefused = call >= RefuseFrom && call - RefuseFrom < RefuseCount;
        Interlocked.Add(ref _refusals, isRefused ? 1 : 0);
        return isRefused;
    }
}
