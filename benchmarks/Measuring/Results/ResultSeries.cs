using System.Collections.Generic;

namespace Measuring.Results;

/// <summary>One line, or the bars of one colour.</summary>
public sealed record ResultSeries(string Name, IReadOnlyList<ResultPoint> Points);
