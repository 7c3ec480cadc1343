namespace Measurements;

/// <summary>Reads and writes what measurements and their children tell each other.</summary>
[JsonSourceGenerationOptions(IgnoreReadOnlyProperties = true)]
[JsonSerializable(typeof(HeapRequest))]
[JsonSerializable(typeof(HeapResult))]
[JsonSerializable(typeof(CopyStep))]
[JsonSerializable(typeof(Trial))]
[JsonSerializable(typeof(SweepRequest))]
[JsonSerializable(typeof(SweepReport))]
[JsonSerializable(typeof(ChurnRequest))]
[JsonSerializable(typeof(ChurnReport))]
[JsonSerializable(typeof(BurstRequest))]
[JsonSerializable(typeof(BurstReport))]
[JsonSerializable(typeof(FactorRequest))]
[JsonSerializable(typeof(TrialPeak))]
[JsonSerializable(typeof(ThresholdRequest))]
[JsonSerializable(typeof(ThresholdResult))]
[JsonSerializable(typeof(PopulateRequest))]
[JsonSerializable(typeof(PopulateResult))]
[JsonSerializable(typeof(string))]
internal sealed partial class MeasurementJson : JsonSerializerContext;
