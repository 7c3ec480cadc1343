using System.Collections.Generic;

namespace Measuring.Results;

/// <summary>One line, or the bars of one colour.</summary>
/// <param name="Name">The name in the legend.</param>
/// <param name="Points">The points, from left to right.</param>
public sealed record ResultSeries(string Name, IReadOnlyList<ResultPoint> Points);
