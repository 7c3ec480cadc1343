using System.Text.Json.Serialization;

namespace Measuring.Results;

/// <summary>Reads and writes result files.</summary>
[JsonSourceGenerationOptions(
    WriteIndented = true,
    UseStringEnumConverter = true,
    RespectNullableAnnotations = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(ResultDocument))]
public sealed partial class ResultJson : JsonSerializerContext;
