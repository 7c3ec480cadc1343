using System.Text.Json.Serialization;

namespace LoadResizeSave.Containers;

/// <summary>Reads and writes what a child in a container and its parent exchange.</summary>
[JsonSourceGenerationOptions(
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(ContainerMessage))]
internal sealed partial class ContainerJson : JsonSerializerContext;
