using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using Fragmentation.Subjects;
using Measuring.Machines;

namespace Fragmentation.Churn;

/// <summary>Runs a pattern on one source of memory, in a process that does nothing else.</summary>
internal sealed class ChurnRun
{
    private const int Samples = 400;

    private readonly ChurnPattern _pattern;
    private readonly int _iterations;
    private readonly long _residentLimit;
    private readonly List<ChurnSample> _samples = new(Samples + 1);
    private readonly Lock _sampling = new();
    private long _peakCommitted = -1;
    private int _done;
    private volatile bool _stopped;

    /// <summary>Prepares <paramref name="iterations"/> iterations, which end early once <paramref name="residentLimit"/> bytes are resident.</summary>
    public ChurnRun(ChurnPattern pattern, int iterations, long residentLimit)
    {
        _pattern = pattern;
        _iterations = iterations;
        _residentLimit = residentLimit;
    }

    /// <summary>Runs and measures.</summary>
    public ChurnReport Run(SubjectKind kind, int seed)
    {
        using MemorySubject subject = MemorySubject.Create(kind);
        ChurnThread[] threads = [.. Enumerable.Range(0, _pattern.Threads).Select(i => new ChurnThread(_pattern, subject, seed + i))];
        WarmUp(subject);

        MemoryReading start = MemoryReading.Now();
        long began = Stopwatch.GetTimestamp();
        RunAll(threads);
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        MemoryReading end = MemoryReading.Now(_peakCommitted < 0 ? null : _peakCommitted);
        long live = threads.Sum(thread => thread.LiveBytes);

        foreach (ChurnThread thread in threads)
        {
            thread.Dispose();
        }

        subject.ReleaseIdle();
        return new ChurnReport
        {
            Pattern = _pattern.Name,
            Subject = kind,
            Iterations = Math.Min(_done, _iterations),
            Seconds = seconds,
            Start = start,
            End = end,
            LiveBytes = live,
            Released = MemoryReading.Now(end.PeakCommitted),

            // The system's own peak lags behind by what each core has not yet folded in.
            PeakResident = Math.Max(Math.Max(ProcessMemory.ReadPeakResident(), end.Resident), _samples.Max(sample => sample.Resident)),
            Samples = _samples,
        };
    }

    // What is compiled and loaded at the first call is not to be counted as growth. One small image, so that the heap is left as it was.
    private static void WarmUp(MemorySubject subject)
    {
        for (int i = 0; i < 3; i++)
        {
            using (HeldImage image = subject.Allocate(64, 64))
            {
                image.Touch();
            }

            subject.ReleaseIdle();
            _ = MemoryReading.Now();
        }
    }

    private void RunAll(ChurnThread[] threads)
    {
        Thread[] others = [.. threads.Skip(1).Select(thread => new Thread(() => RunOne(thread)) { IsBackground = true })];
        foreach (Thread other in others)
        {
            other.Start();
        }

        RunOne(threads[0]);
        foreach (Thread other in others)
        {
            other.Join();
        }
    }

    // Each thread does its share and not what is left: the orders of sizes and releases are then the same in every run.
    private void RunOne(ChurnThread thread)
    {
        int every = Math.Max(1, _iterations / Samples);
        int share = _iterations / _pattern.Threads;
        for (int i = 0; i < share && !_stopped; i++)
        {
            thread.Iterate(NoteCommitted);
            int done = Interlocked.Increment(ref _done);
            if (done % every == 0)
            {
                Sample(done);
            }
        }
    }

    private void NoteCommitted()
    {
        if (ProcessMemory.ReadCommitted() is { } committed)
        {
            long known = Volatile.Read(ref _peakCommitted);
            while (committed > known)
            {
                known = Interlocked.CompareExchange(ref _peakCommitted, committed, known) is var seen && seen == known ? committed : seen;
            }
        }
    }

    private void Sample(int done)
    {
        lock (_sampling)
        {
            long resident = ProcessMemory.ReadResident();
            _samples.Add(new ChurnSample(done, resident, ProcessMemory.ReadCommitted()));
            _stopped |= resident > _residentLimit;
        }
    }
}
