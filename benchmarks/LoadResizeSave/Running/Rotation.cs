namespace LoadResizeSave.Running;

/// <summary>Lets everybody be first in turn.</summary>
internal static class Rotation
{
    /// <summary>Returns <paramref name="items"/> in the order of a round: each round begins with the item after the one that the round before began with.</summary>
    public static IEnumerable<T> Order<T>(IReadOnlyList<T> items, int round)
        => Enumerable.Range(round, items.Count).Select(i => items[i % items.Count]);
}
