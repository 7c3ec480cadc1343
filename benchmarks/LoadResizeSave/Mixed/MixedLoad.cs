using LoadResizeSave.Containers;

namespace LoadResizeSave.Mixed;

/// <summary>What the user asked for, checked.</summary>
internal sealed record MixedLoad
{
    public static string[] UsualWays => ["default", "free", "reserve"];

    public required IReadOnlyList<MemoryWay> Ways { get; init; }

    public required int LimitMegabytes { get; init; }

    public required int Workers { get; init; }

    public required int Jobs { get; init; }

    public required int Runs { get; init; }

    public required TimeSpan Time { get; init; }
}
