using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using HeapPerf.Batches;
using HeapPerf.Children;
using HeapPerf.Heaps;
using Measuring.Processes;
using Spectre.Console;

namespace HeapPerf.Running;

/// <summary>The parent process: runs a child for each heap, size class and number of threads.</summary>
internal sealed class Measurement
{
    private readonly HeapPerfOptions _options;
    private readonly IAnsiConsole _console;
    private readonly List<string> _remarks = [];
    private readonly HashSet<HeapKind> _unavailable = [];

    /// <summary>Prepares what <paramref name="options"/> say.</summary>
    public Measurement(HeapPerfOptions options, IAnsiConsole console)
    {
        _options = options;
        _console = console;
    }

    /// <summary>Gets what was left out, and why.</summary>
    public IReadOnlyList<string> Remarks => _remarks;

    /// <summary>Gets how long it took.</summary>
    public TimeSpan Elapsed { get; private set; }

    /// <summary>Measures, and shows how far it is.</summary>
    public Measurements Run()
    {
        long start = Stopwatch.GetTimestamp();
        Measurements measurements = new(_options);
        CreateProgress().Start(progress =>
        {
            List<ProgressTask> tasks = [.. _options.Classes.Select(sizeClass => progress.AddTask(
                Markup.Escape(sizeClass.Name), autoStart: false, maxValue: _options.Threads.Count * _options.Heaps.Count))];
            foreach ((SizeClass sizeClass, ProgressTask task) in _options.Classes.Zip(tasks))
            {
                task.StartTask();
                Measure(sizeClass, measurements, task);
                task.StopTask();
            }
        });
        Elapsed = Stopwatch.GetElapsedTime(start);
        return measurements;
    }

    private void Measure(SizeClass sizeClass, Measurements measurements, ProgressTask task)
    {
        foreach (int threads in _options.Threads)
        {
            // Heaps in turn, so that whatever else the machine does meanwhile falls on neighbouring figures of all of them.
            foreach (HeapKind heap in _options.Heaps)
            {
                if (!_unavailable.Contains(heap) && HasRoom(sizeClass, threads))
                {
                    Measure(CreateRequest(sizeClass, heap, threads), measurements);
                }

                task.Increment(1);
            }
        }
    }

    private void Measure(ChildRequest request, Measurements measurements)
    {
        try
        {
            ChildResult result = ChildProcess.Run(request);
            if (result.Unavailable is null)
            {
                measurements.Add(request, result);
            }
            else if (_unavailable.Add(request.Heap))
            {
                _remarks.Add($"{HeapNames.Of(request.Heap)} is left out: {result.Unavailable}.");
            }
        }
        catch (ChildFailedException exception)
        {
            _remarks.Add($"{HeapNames.Of(request.Heap)}, {request.Class.Name}, {request.Threads} threads failed: {exception.Message}");
        }
    }

    private ChildRequest CreateRequest(SizeClass sizeClass, HeapKind heap, int threads) => new()
    {
        Heap = heap,
        Class = sizeClass,
        Threads = threads,
        Runs = _options.Runs,
        RunMilliseconds = Math.Max(_options.ShortestRunMilliseconds, _options.ThreadMilliseconds * threads / Environment.ProcessorCount),
        WarmUpMilliseconds = _options.WarmUpMilliseconds,
    };

    // Beyond half of the memory the system would begin to swap or to kill.
    private bool HasRoom(SizeClass sizeClass, int threads)
    {
        const double Megabyte = 1e6;
        long needed = (long)sizeClass.SizeInBytes * sizeClass.Blocks * threads;
        long limit = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 2;
        if (needed <= limit)
        {
            return true;
        }

        string remark = FormattableString.Invariant(
            $"{sizeClass.Name} with {threads} threads is left out: it holds {needed / Megabyte:N0} MB, more than half of the memory ({limit / Megabyte:N0} MB).");
        if (!_remarks.Contains(remark))
        {
            _remarks.Add(remark);
        }

        return false;
    }

    private Progress CreateProgress() => _console.Progress()
        .Columns(new TaskDescriptionColumn { Alignment = Justify.Left }, new ProgressBarColumn(), new PercentageColumn(), new ElapsedTimeColumn());
}
