using System.Text.Json.Serialization;
using Fragmentation.Bursts;
using Fragmentation.Churn;

namespace Fragmentation;

/// <summary>Reads and writes what children tell their parent.</summary>
[JsonSourceGenerationOptions(UseStringEnumConverter = true)]
[JsonSerializable(typeof(ChurnReport))]
[JsonSerializable(typeof(BurstReport))]
internal sealed partial class ChildJson : JsonSerializerContext;
