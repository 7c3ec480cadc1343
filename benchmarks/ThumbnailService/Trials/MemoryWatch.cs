using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Threading;
using Measuring.Cgroups;

namespace ThumbnailService.Trials;

/// <summary>Looks from outside at the memory of the service, on a thread of its own.</summary>
internal sealed class MemoryWatch : IDisposable
{
    private static readonly TimeSpan s_period = TimeSpan.FromMilliseconds(50);

    private readonly int _processId;
    private readonly MemoryCgroup? _group;
    private readonly Stopwatch _clock = Stopwatch.StartNew();
    private readonly ManualResetEventSlim _stop = new();
    private readonly List<MemoryPoint> _points = [];
    private readonly Thread _thread;

    /// <summary>Starts to look at the process <paramref name="processId"/>, which may be in <paramref name="group"/>.</summary>
    public MemoryWatch(int processId, MemoryCgroup? group)
    {
        _processId = processId;
        _group = group;
        _thread = new Thread(Run) { IsBackground = true, Name = "Memory watch" };
        _thread.Start();
    }

    /// <summary>Looks a last time, and returns what was seen.</summary>
    public IReadOnlyList<MemoryPoint> Stop()
    {
        _stop.Set();
        _thread.Join();
        return _points;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _ = Stop();
        _stop.Dispose();
    }

    private void Run()
    {
        bool isLast = false;
        while (ReadResident() is { } resident)
        {
            _points.Add(new MemoryPoint(_clock.Elapsed.TotalSeconds, resident, _group?.UsedBytes ?? resident));
            if (isLast)
            {
                return;
            }

            isLast = _stop.Wait(s_period);
        }
    }

    // proc(5): the second number of statm is the resident set, in pages. A process that has ended has neither file nor pages.
    private long? ReadResident()
    {
        try
        {
            string text = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{_processId}/statm"));
            long pages = long.Parse(text.Split(' ').ElementAtOrDefault(1) ?? "0", CultureInfo.InvariantCulture);
            return pages == 0 ? null : pages * Environment.SystemPageSize;
        }
        catch (IOException)
        {
            return null;
        }
    }
}
