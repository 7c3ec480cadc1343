using System.Collections.Generic;
using Fragmentation.Subjects;

namespace Fragmentation.Bursts;

/// <summary>What a child measured.</summary>
internal sealed record BurstReport
{
    /// <summary>Gets the source of memory.</summary>
    public required SubjectKind Subject { get; init; }

    /// <summary>Gets how many blocks were allocated in a wave.</summary>
    public required int Blocks { get; init; }

    /// <summary>Gets what is out at the end of each wave, in bytes.</summary>
    public required long LiveBytes { get; init; }

    /// <summary>Gets the waves, in order.</summary>
    public required IReadOnlyList<BurstWave> Waves { get; init; }
}
