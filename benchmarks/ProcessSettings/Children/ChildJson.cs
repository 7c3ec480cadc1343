using System.Text.Json.Serialization;
using ProcessSettings.ManagedHeap;
using ProcessSettings.NativeHeap;

namespace ProcessSettings.Children;

/// <summary>Reads and writes what children tell their parent.</summary>
[JsonSerializable(typeof(MallocFigures))]
[JsonSerializable(typeof(ArrayFigures))]
internal sealed partial class ChildJson : JsonSerializerContext;
