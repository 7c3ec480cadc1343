namespace Decisions.BlockSizes;

/// <summary>What it takes to fill some memory in blocks of one size and to purge it block by block.</summary>
/// <param name="BlockMegabytes">The size of a block, in MB.</param>
/// <param name="Pages">The kind of pages.</param>
/// <param name="FirstTouch">The time to commit and write to all blocks, in microseconds a block.</param>
/// <param name="Purge">The time to purge them, in microseconds a block.</param>
internal sealed record BlockCost(int BlockMegabytes, string Pages, double FirstTouch, double Purge);
