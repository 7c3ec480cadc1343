namespace Measurements;

/// <summary>Reads and writes what measurements and their children tell each other.</summary>
[JsonSourceGenerationOptions(IgnoreReadOnlyProperties = true)]
[JsonSerializable(typeof(HeapRequest))]
[JsonSerializable(typeof(HeapResult))]
[JsonSerializable(typeof(CopyStep))]
[JsonSerializable(typeof(Trial))]
[JsonSerializable(typeof(ChurnRequest))]
[JsonSerializable(typeof(ChurnReport))]
[JsonSerializable(typeof(BurstRequest))]
[JsonSerializable(typeof(BurstReport))]
[JsonSerializable(typeof(FactorRequest))]
[JsonSerializable(typeof(FactorPeak))]
internal sealed partial class MeasurementJson : JsonSerializerContext;
