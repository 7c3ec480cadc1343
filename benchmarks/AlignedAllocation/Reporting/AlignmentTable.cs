using System.Collections.Generic;
using System.Linq;
using AlignedAllocation.Accuracy;
using AlignedAllocation.Ways;
using Measuring.Results;

namespace AlignedAllocation.Reporting;

/// <summary>The table of the alignment check.</summary>
internal static class AlignmentTable
{
    /// <summary>Makes the table.</summary>
    public static ResultTable Create(IReadOnlyList<AlignmentResult> results) => new()
    {
        Title = $"Alignment of {BufferSizes.Count} buffers held at once, from 1 byte to {BufferSizes.Largest:N0} (8K, 32 bits a pixel)",
        Labels = ["way of allocating"],
        Columns =
        [
            new("buffers", null, "0"), new("promised, least", "bytes", "N0"), new("promised, most", "bytes", "N0"),
            new("all are multiples of", "bytes", "N0"), new($"on {AllocationWays.Alignment} bytes", null, "0"), new("wrong", null, "0"),
        ],
        Rows =
        [
            .. results.Select(result => new ResultRow(
                [result.Way],
                [result.Buffers, result.LeastPromise, result.LargestPromise, result.LeastFound, result.OnCacheLines, result.Failures.Count])),
        ],
    };
}
