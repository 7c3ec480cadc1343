using System.Runtime.InteropServices;

namespace ContractSuite.Loading;

/// <summary>
/// A number that no other buffer has, written over a buffer and looked for before its return: a buffer that has another one
/// shares its memory.
/// </summary>
internal readonly struct Stamp
{
    private static long s_last;

    private readonly long _number;

    private Stamp(long number) => _number = number;

    public static Stamp Write(Span<byte> buffer)
    {
        Stamp stamp = new(Interlocked.Increment(ref s_last));
        MemoryMarshal.Cast<byte, long>(buffer).Fill(stamp._number);
        return stamp;
    }

    public bool IsOn(Span<byte> buffer) => Pattern.IsAll(MemoryMarshal.Cast<byte, long>(buffer), _number);
}
