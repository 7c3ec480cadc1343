namespace Decisions.Trimming;

/// <summary>What makes a pool look for idle blocks.</summary>
internal enum TrimTrigger
{
    /// <summary>A timer, and nothing else.</summary>
    Timer,

    /// <summary>Every Gen2 collection, and nothing else.</summary>
    Collections,

    /// <summary>Every Gen2 collection, and the collector is told of all memory that blocks have.</summary>
    PressureOfCommitted,

    /// <summary>Every Gen2 collection, and the collector is told of what lies idle: at each return, and back at each rent.</summary>
    PressureOfRetained,

    /// <summary>Timer and Gen2 collections: the library as it is.</summary>
    Both,
}
