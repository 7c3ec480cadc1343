using System.Collections.Generic;

namespace Report.Reading;

/// <summary>What was measured on machines with one kind of processor.</summary>
/// <param name="Name">The name of the folder.</param>
/// <param name="Notes">What somebody wrote about it by hand, in Markdown; null where nobody did.</param>
/// <param name="Results">The results, in order of their paths.</param>
internal sealed record ProcessorResults(string Name, string? Notes, IReadOnlyList<StoredResult> Results);
