namespace Decisions.BlockSizes;

/// <summary>What a pool is used for.</summary>
/// <param name="ContiguousPart">The part of all images that must be contiguous.</param>
/// <param name="Fill">How much of the pool's size the images that live at a time add up to, at most.</param>
internal sealed record ImageLoad(double ContiguousPart, double Fill)
{
    /// <summary>Gets what it is called in tables.</summary>
    public string Name => $"{ContiguousPart:P0} contiguous";
}
