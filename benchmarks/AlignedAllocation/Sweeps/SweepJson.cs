using System.Text.Json.Serialization;

namespace AlignedAllocation.Sweeps;

/// <summary>Reads and writes what a child tells its parent.</summary>
[JsonSerializable(typeof(SweepReport))]
internal sealed partial class SweepJson : JsonSerializerContext;
