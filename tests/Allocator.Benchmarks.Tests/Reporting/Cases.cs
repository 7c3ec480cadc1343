using Allocator.Benchmarks.Reporting;

namespace Allocator.Benchmarks.Tests.Reporting;

/// <summary>Makes cases as SummaryReader would.</summary>
internal static class Cases
{
    public const string Threads = "Threads";

    public static MeasuredCase Create(string method, string threads, double? mean, bool isBaseline = false) => new()
    {
        Method = method,
        Description = method.ToLowerInvariant(),
        Parameters = [new MeasuredParameter(Threads, threads), new MeasuredParameter("BlocksHeld", "4")],
        IsBaseline = isBaseline,
        Mean = mean,
        Error = mean / 10,
        Deviation = mean / 20,
        Collections = mean is null ? [] : [0.5, 0, 0],
        AllocatedBytes = mean is null ? null : 40,
    };
}
