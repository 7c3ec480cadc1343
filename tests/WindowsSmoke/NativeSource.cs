using System;
using Allocator;
using Allocator.Native;

namespace WindowsSmoke;

/// <summary>The library's own calls to the system, below pool and owners, where a refusal is a result.</summary>
internal sealed unsafe class NativeSource
{
    private const long Part = 4 << 20;
    private const long Whole = 64 * Part;

    private readonly VirtualMemorySource _source = VirtualMemorySource.Create(HugePages.Auto);

    public void IsTheOneForWindows() => Checks.That(_source is WindowsMemorySource, "VirtualAlloc's source");

    public void CommitsPurgesAndCommitsAgain()
    {
        nint start = Reserve();
        nint part = start + (nint)(5 * Part);
        for (int round = 0; round < 3; round++)
        {
            Checks.That(_source.TryCommit(part, Part, out bool zeroed), "a committed part");
            Span<byte> bytes = new((void*)part, (int)Part);
            Checks.That(zeroed && !bytes.ContainsAnyExcept((byte)0), "zero bytes after a commit");
            bytes.Fill(0xA5);
            _source.Populate(part, Part);
            Checks.That(!bytes.ContainsAnyExcept((byte)0xA5), "contents kept by Populate");
            Checks.That(_source.TryPurge(part, Part), "a purged part");
        }

        _source.Release(start, Whole);
    }

    public void PurgesWhatItsNeighboursKeep()
    {
        nint start = Reserve();
        Checks.That(_source.TryCommit(start, 3 * Part, out _), "three committed parts");
        new Span<byte>((void*)start, (int)(3 * Part)).Fill(1);
        Checks.That(_source.TryPurge(start + (nint)Part, Part), "the middle one purged");
        Checks.That(!new Span<byte>((void*)start, (int)Part).ContainsAnyExcept((byte)1), "the first as it was");
        Checks.That(!new Span<byte>((void*)(start + (nint)(2 * Part)), (int)Part).ContainsAnyExcept((byte)1), "the third as it was");
        _source.Release(start, Whole);
    }

    public void AllocatesWithEveryAlignment()
    {
        for (int alignment = NativeMemorySource.MinimumAlignment; alignment <= NativeMemorySource.MaximumAlignment; alignment *= 2)
        {
            long length = _source.RoundUp(Part + 1);
            nint address = _source.TryAllocate(length, alignment, out bool zeroed);
            Checks.That(address != 0 && address % alignment == 0, $"an address aligned to {alignment}");
            Checks.That(zeroed && !new Span<byte>((void*)address, (int)length).ContainsAnyExcept((byte)0), "zero bytes");
            _source.Free(address, length);
        }
    }

    public void SealsAndUnseals()
    {
        nint address = _source.TryAllocate(Part, NativeMemorySource.MinimumAlignment, out _);
        Span<byte> bytes = new((void*)address, (int)Part);
        bytes.Fill(3);
        Checks.That(_source.TrySeal(address, Part) && _source.TryUnseal(address, Part), "memory sealed and unsealed");
        Checks.That(!bytes.ContainsAnyExcept((byte)3), "contents kept behind the seal");
        Checks.That(_source.TrySealEmpty(address, Part), "memory given back, addresses kept");
        Checks.That(_source.TryCommit(address, Part, out bool zeroed) && zeroed && !bytes.ContainsAnyExcept((byte)0), "zero bytes after a commit");
        _source.Free(address, Part);
    }

    public void RefusesTheImpossible()
    {
        Checks.That(_source.TryReserve(1L << 60) == 0, "no reservation of an exbibyte");
        Checks.That(_source.TryAllocate(1L << 60, NativeMemorySource.MaximumAlignment, out _) == 0, "no exbibyte");
        nint start = Reserve();
        _source.Release(start, Whole);
        Checks.That(!_source.TryCommit(start, Part, out _), "no commit of what was released");
    }

    private nint Reserve()
    {
        nint start = _source.TryReserve(Whole);
        Checks.That(start != 0 && start % NativeMemorySource.MaximumAlignment == 0, "an aligned reservation");
        return start;
    }
}
