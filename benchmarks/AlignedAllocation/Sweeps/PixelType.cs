using System.Collections.Generic;

namespace AlignedAllocation.Sweeps;

/// <summary>A type of pixels, by OpenCV's name.</summary>
/// <param name="Name">Bits, signedness and channels.</param>
/// <param name="Bytes">Bytes a pixel.</param>
internal sealed record PixelType(string Name, int Bytes)
{
    /// <summary>Gets the types of the document.</summary>
    public static IReadOnlyList<PixelType> All { get; } = [new("8UC1", 1), new("16SC1", 2), new("8UC3", 3), new("8UC4", 4)];
}
