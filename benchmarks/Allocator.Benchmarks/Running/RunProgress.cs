using System.Collections.Generic;
using System.Globalization;
using Allocator.Benchmarks.Reporting;
using BenchmarkDotNet.EventProcessors;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using Spectre.Console;

namespace Allocator.Benchmarks.Running;

/// <summary>Writes a line for each benchmark as it ends. BenchmarkDotNet's own log, hundreds of lines each, goes to a file.</summary>
internal sealed class RunProgress : EventProcessor
{
    private readonly IAnsiConsole _console;
    private readonly int _total;
    private int _done;

    /// <summary>Reports on <paramref name="total"/> benchmarks.</summary>
    public RunProgress(IAnsiConsole console, int total)
    {
        _console = console;
        _total = total;
    }

    /// <inheritdoc/>
    public override void OnStartBuildStage(IReadOnlyList<BuildPartition> partitions) => _console.MarkupLine("[grey]building the benchmarks[/]");

    /// <inheritdoc/>
    public override void OnEndRunBenchmark(BenchmarkCase benchmarkCase, BenchmarkReport report)
    {
        string time = report is { Success: true, ResultStatistics.Mean: var mean } ? TimeScale.For([mean]).Write(mean) : "failed";
        string parameters = benchmarkCase.Parameters.DisplayInfo;
        string count = (++_done).ToString(CultureInfo.InvariantCulture).PadLeft(_total.ToString(CultureInfo.InvariantCulture).Length);
        _console.WriteLine($"{count}/{_total}  {time,10}  {benchmarkCase.Descriptor.Type.Name}.{benchmarkCase.Descriptor.WorkloadMethod.Name} {parameters}".TrimEnd());
    }
}
