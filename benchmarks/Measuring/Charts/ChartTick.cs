namespace Measuring.Charts;

/// <summary>A mark on an axis.</summary>
public readonly record struct ChartTick(double Value, string Label);
