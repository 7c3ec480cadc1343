namespace Measurements.Heaps;

/// <summary>What a batch allocates.</summary>
/// <param name="SizeInBytes">The size of a block, in bytes.</param>
/// <param name="Blocks">How many are held at once, and allocated and freed in one batch; a multiple of 4.</param>
/// <param name="IsTouched">Whether one byte of each page is written after a block is allocated, within the time of the allocation.</param>
internal sealed record SizeClass(int SizeInBytes, int Blocks, bool IsTouched)
{
    public string Name => IsTouched ? $"{Size}, touched" : Size;

    public string Title => $"{Size}, batches of {Blocks}, {(IsTouched ? "one byte of each page written" : "memory not touched")}";

    private string Size => SizeInBytes switch
    {
        >= 1 << 20 => FormattableString.Invariant($"{SizeInBytes >> 20} MiB"),
        >= 1 << 10 => FormattableString.Invariant($"{SizeInBytes >> 10} KiB"),
        _ => FormattableString.Invariant($"{SizeInBytes} B"),
    };
}
