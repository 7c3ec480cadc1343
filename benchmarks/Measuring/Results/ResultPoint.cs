namespace Measuring.Results;

/// <summary>A point of a chart.</summary>
/// <param name="X">Its place on the horizontal axis.</param>
/// <param name="Y">Its value.</param>
public readonly record struct ResultPoint(double X, double Y);
