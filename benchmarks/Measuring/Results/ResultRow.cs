using System.Collections.Generic;

namespace Measuring.Results;

/// <summary>One row of a table.</summary>
/// <param name="Values">The figures; null where nothing could be measured.</param>
public sealed record ResultRow(IReadOnlyList<string> Labels, IReadOnlyList<double?> Values);
