namespace Measuring.Results;

/// <summary>A point of a chart.</summary>
public readonly record struct ResultPoint(double X, double Y);
