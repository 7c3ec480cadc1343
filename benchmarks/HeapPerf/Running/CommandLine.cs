using System;
using System.CommandLine;
using System.Linq;
using HeapPerf.Batches;
using HeapPerf.Heaps;
using Measuring;

namespace HeapPerf.Running;

/// <summary>The options of the program beside those of all measurement programs.</summary>
internal sealed class CommandLine
{
    private const string All = "all";
    private const int MostThreads = 1024;
    private const int MostRuns = 1000;

    // The pool has two ways: arrays up to 1 MiB, blocks above. Batches are shorter where 128 threads would hold more than 2 GiB.
    private static readonly SizeClass[] s_classes =
    [
        new(16, 64, false), new(4 << 10, 64, false), new(64 << 10, 64, false), new(1 << 20, 16, true), new(4 << 20, 4, false), new(4 << 20, 4, true),
    ];

    private readonly Option<string[]> _heap = new("--heap") { Description = "Heaps to compare.", AllowMultipleArgumentsPerToken = true, DefaultValueFactory = _ => [All] };
    private readonly Option<int[]> _threads = new("--threads") { Description = "Numbers of threads.", AllowMultipleArgumentsPerToken = true, DefaultValueFactory = _ => [1, 2, 4, 8, 16, 32, 64, 128] };
    private readonly Option<int> _runs = new("--runs") { Description = "How many runs each mean is over.", DefaultValueFactory = _ => 10 };
    private readonly MeasurementCommand _command;

    /// <summary>Adds the options to <paramref name="command"/>.</summary>
    public CommandLine(MeasurementCommand command)
    {
        _command = command;
        _heap.AcceptOnlyFromAmong([All, .. HeapNames.OfOptions]);
        _threads.Between(1, MostThreads);
        _runs.Between(1, MostRuns);
        command.Root.Options.Add(_heap);
        command.Root.Options.Add(_threads);
        command.Root.Options.Add(_runs);
    }

    /// <summary>Reads the options out of <paramref name="parsed"/>, which has no errors.</summary>
    public HeapPerfOptions Read(ParseResult parsed)
    {
        bool quick = parsed.GetValue(_command.Quick);
        string[] heaps = parsed.GetRequiredValue(_heap);
        int[] threads = quick && IsDefault(parsed, _threads) ? [1, 4] : parsed.GetRequiredValue(_threads);
        return new HeapPerfOptions
        {
            Heaps = heaps.Contains(All) ? Enum.GetValues<HeapKind>() : [.. heaps.Select(HeapNames.Parse).Distinct().Order()],
            Threads = [.. threads.Distinct().Order()],
            Classes = quick ? [s_classes[0], s_classes[^1]] : s_classes,
            Runs = quick && IsDefault(parsed, _runs) ? 2 : parsed.GetRequiredValue(_runs),
            ShortestRunMilliseconds = quick ? 1 : 20,
            ThreadMilliseconds = quick ? 1 : 3,
            WarmUpMilliseconds = quick ? 5 : 3000,
        };
    }

    private static bool IsDefault(ParseResult parsed, Option option) => parsed.GetResult(option) is null or { Implicit: true };
}
