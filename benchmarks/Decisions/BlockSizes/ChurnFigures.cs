namespace Decisions.BlockSizes;

/// <summary>One load with blocks of one size.</summary>
/// <param name="BlockMegabytes">The size of a block, in MB.</param>
/// <param name="Load">The load.</param>
/// <param name="Counts">What became of the images.</param>
/// <param name="Microseconds">The time to allocate and dispose an image, untouched.</param>
/// <param name="WrittenMicroseconds">The same with all its pages written to.</param>
/// <param name="Ratio">The latter against blocks of 4 MB.</param>
internal sealed record ChurnFigures(int BlockMegabytes, ImageLoad Load, ChurnCounts Counts, double Microseconds, double WrittenMicroseconds, double Ratio);
