namespace Decisions.Trimming;

/// <summary>What a process does after its bursts, while it is watched.</summary>
internal enum Aftermath
{
    /// <summary>It allocates small objects that die young: collections happen, of the young generations above all.</summary>
    ShortLivedObjects,

    /// <summary>It allocates small objects that live long enough to reach generation 2, which is then collected now and then.</summary>
    LongLivedObjects,

    /// <summary>It does nothing at all.</summary>
    Nothing,
}
