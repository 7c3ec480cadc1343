namespace Measuring.Charts;

/// <summary>A mark on an axis.</summary>
/// <param name="Value">Where it is.</param>
/// <param name="Label">What stands beside it.</param>
public readonly record struct ChartTick(double Value, string Label);
