using System.Text.Json.Serialization;

namespace HeapPerf.Children;

/// <summary>Writes and reads what parent and child tell each other.</summary>
[JsonSourceGenerationOptions(IgnoreReadOnlyProperties = true)]
[JsonSerializable(typeof(ChildRequest))]
[JsonSerializable(typeof(ChildResult))]
internal sealed partial class ChildJson : JsonSerializerContext;
