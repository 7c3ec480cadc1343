using System.Runtime.InteropServices;
using Allocator;
using Allocator.Native;

namespace ContractSuite.Native;

/// <summary>The library's own calls to the system, below pool and owners, where a refusal is a result.</summary>
internal sealed unsafe class SourceContract
{
    private const long Part = 4 << 20;
    private const long Whole = 64 * Part;

    private readonly VirtualMemorySource _source = VirtualMemorySource.Create(HugePages.Auto, overreadToleranceInBytes: 64);

    public static void Run<TExpected>(Checks checks)
        where TExpected : VirtualMemorySource
    {
        SourceContract source = new();
        checks.Run("source: is the one for this system", () => source._source is TExpected);
        checks.Run("source: commits, purges and commits again", source.CommitsPurgesAndCommitsAgain);
        checks.Run("source: purges what its neighbours keep", source.PurgesWhatItsNeighboursKeep);
        checks.Run("source: reads where nothing is committed", source.ReadsWhereNothingIsCommitted);
        checks.Run("source: allocates with every alignment", source.AllocatesWithEveryAlignment);
        checks.Run("source: protects and unprotects", source.ProtectsAndUnprotects);
        checks.Run("source: refuses the impossible", source.RefusesTheImpossible);
    }

    private void CommitsPurgesAndCommitsAgain()
    {
        nint start = Reserve();
        nint part = start + (nint)(5 * Part);
        for (int round = 0; round < 3; round++)
        {
            Checks.That(_source.TryCommit(part, Part, out bool zeroed), "a committed part");
            Span<byte> bytes = new((void*)part, (int)Part);
            Checks.That(zeroed && Pattern.IsAll<byte>(bytes, 0), "zero bytes after a commit");
            bytes.Fill(0xA5);
            Checks.That(_source.TryPopulate(part, Part), "populated");
            Checks.That(Pattern.IsAll<byte>(bytes, 0xA5), "contents kept when populated");
            Checks.That(_source.TryPurge(part, Part), "a purged part");
        }

        _source.Free(start, Whole);
    }

    private void PurgesWhatItsNeighboursKeep()
    {
        nint start = Reserve();
        Checks.That(_source.TryCommit(start, 3 * Part, out _), "three committed parts");
        new Span<byte>((void*)start, (int)(3 * Part)).Fill(1);
        Checks.That(_source.TryPurge(start + (nint)Part, Part), "the middle one purged");
        Checks.That(Pattern.IsAll<byte>(new Span<byte>((void*)start, (int)Part), 1), "the first as it was");
        Checks.That(Pattern.IsAll<byte>(new Span<byte>((void*)(start + (nint)(2 * Part)), (int)Part), 1), "the third as it was");
        _source.Free(start, Whole);
    }

    // As far as the tolerance goes: the beginning of every part, before and after it had memory, and what follows the last one.
    private void ReadsWhereNothingIsCommitted()
    {
        nint start = Reserve();
        nint part = start + (nint)(5 * Part);
        for (int round = 0; round < 2; round++)
        {
            for (long offset = 0; offset <= Whole; offset += Part)
            {
                Checks.That(
                    Pattern.IsAll<byte>(new Span<byte>((void*)(start + (nint)offset), _source.OverreadToleranceInBytes), 0),
                    $"zero bytes at {offset}");
            }

            Checks.That(_source.TryCommit(part, Part, out _), "a committed part");
            new Span<byte>((void*)part, (int)Part).Fill(0xA5);
            Checks.That(_source.TryPurge(part, Part), "a purged part");
        }

        _source.Free(start, Whole);
    }

    private void AllocatesWithEveryAlignment()
    {
        for (int alignment = NativeMemorySource.MinimumAlignment; alignment <= NativeMemorySource.MaximumAlignment; alignment *= 2)
        {
            long length = _source.RoundUp(Part + 1);
            nint address = _source.TryAllocate(length, alignment, out bool zeroed);
            Checks.That(address != 0 && address % alignment == 0, $"an address aligned to {alignment}");
            Checks.That(zeroed && Pattern.IsAll<byte>(new Span<byte>((void*)address, (int)length), 0), "zero bytes");
            _source.Free(address, length);
        }
    }

    private void ProtectsAndUnprotects()
    {
        nint address = _source.TryAllocate(Part, NativeMemorySource.MinimumAlignment, out _);
        Span<byte> bytes = new((void*)address, (int)Part);
        bytes.Fill(3);
        Checks.That(_source.TryProtect(address, Part) && _source.TryUnprotect(address, Part), "memory protected and unprotected");
        Checks.That(Pattern.IsAll<byte>(bytes, 3), "contents kept while protected");
        Checks.That(_source.TryDecommitAndProtect(address, Part), "memory given back, addresses kept");
        _source.Free(address, Part);
    }

    private void RefusesTheImpossible()
    {
        Checks.That(_source.TryReserve(1L << 60, 1L << 50) == 0, "no reservation of an exbibyte");
        Checks.That(_source.TryAllocate(1L << 60, NativeMemorySource.MaximumAlignment, out _) == 0, "no exbibyte");
        nint start = Reserve();
        _source.Free(start, Whole);

        // Elsewhere a reservation is writable from the start, and a commit makes no call that could be refused.
        if (RuntimeInformation.IsOSPlatform(OSPlatform.Windows))
        {
            Checks.That(!_source.TryCommit(start, Part, out _), "no commit of what was released");
        }
    }

    private nint Reserve()
    {
        nint start = _source.TryReserve(Whole, Part);
        Checks.That(start != 0 && start % NativeMemorySource.MaximumAlignment == 0, "an aligned reservation");
        return start;
    }
}
