using System.Text.Json.Serialization;

namespace LoadResizeSave.Running;

/// <summary>Reads and writes what processes and files exchange.</summary>
[JsonSourceGenerationOptions(
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(ChildMessage))]
[JsonSerializable(typeof(JobReport))]
internal sealed partial class JobJson : JsonSerializerContext;
