using System.Text.Json.Serialization;

namespace Decisions.Trimming;

/// <summary>Reads and writes what parent and child tell each other.</summary>
[JsonSourceGenerationOptions(UseStringEnumConverter = true)]
[JsonSerializable(typeof(TrimmingRun))]
[JsonSerializable(typeof(TrimmingResult))]
internal sealed partial class TrimmingJson : JsonSerializerContext;
