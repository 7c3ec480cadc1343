namespace LoadResizeSave.Containers;

/// <summary>What the library claims of a way of having memory, in a container whose memory the jobs together exceed.</summary>
/// <param name="SurvivingShare">The least share of runs that end without a kill.</param>
internal sealed record SurvivalClaim(double SurvivingShare, bool MayFail);
