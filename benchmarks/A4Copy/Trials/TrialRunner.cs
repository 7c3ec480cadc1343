using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using A4Copy.Buffers;
using A4Copy.Copying;

namespace A4Copy.Trials;

/// <summary>Runs the tests: in each trial every test, and of each test every kind of memory in turn.</summary>
internal sealed unsafe class TrialRunner
{
    /// <summary>How often the first test allocates and frees in a trial.</summary>
    public const int AllocationsPerTrial = 100;

    // Comparing costs as much as copying: some trials stand for all.
    private const int TrialsPerComparison = 100;

    // Enough calls for the compiler to be done, at a size that costs nothing.
    private const int WarmUpCalls = 200;
    private const int WarmUpLength = 4096;

    private static readonly TimeSpan s_compilerTurn = TimeSpan.FromMilliseconds(150);

    private readonly IReadOnlyList<BufferKind> _kinds;
    private readonly IReadOnlyList<CopyMethod> _methods = CopyMethod.All;
    private readonly Action<int> _onTrial;
    private readonly Meter _meter = new();
    private int _seed;

    /// <summary>Prepares tests with <paramref name="kinds"/>; <paramref name="onTrial"/> is told after each trial how many are done.</summary>
    public TrialRunner(IReadOnlyList<BufferKind> kinds, Action<int> onTrial)
    {
        _kinds = kinds;
        _onTrial = onTrial;
    }

    /// <summary>Has the compiler do its work.</summary>
    public void WarmUp()
    {
        byte* memory = stackalloc byte[2 * WarmUpLength];

        // Twice: code is instrumented first, and compiled for good after that.
        for (int round = 0; round < 2; round++)
        {
            foreach (CopyMethod method in _methods)
            {
                for (int i = 0; i < WarmUpCalls; i++)
                {
                    method.Copy(memory, memory + WarmUpLength, WarmUpLength);
                }
            }

            foreach (BufferKind kind in _kinds)
            {
                kind.AllocateAndFree(WarmUpCalls);
            }

            Thread.Sleep(s_compilerTurn);
        }
    }

    /// <summary>Runs <paramref name="trials"/> trials with memory that is allocated for each test and freed behind it, and one before that is not counted.</summary>
    public TrialTable RunFresh(int trials)
    {
        TrialTable table = new([$"allocate and free × {AllocationsPerTrial}", .. _methods.Select(method => method.Name)], Names());
        for (int trial = -1; trial < trials; trial++)
        {
            for (int test = 0; test <= _methods.Count; test++)
            {
                for (int turn = 0; turn < _kinds.Count; turn++)
                {
                    // Another one begins each time: the first finds the caches as the test before left them.
                    int kind = (turn + trial + 1) % _kinds.Count;
                    Trial result = test == 0 ? AllocateAndFree(_kinds[kind]) : CopyFresh(_kinds[kind], _methods[test - 1], IsCompared(trial, trials));
                    if (trial >= 0)
                    {
                        table.Add(test, kind, result);
                    }
                }
            }

            _onTrial(trial + 1);
        }

        return table;
    }

    /// <summary>Runs <paramref name="trials"/> trials of the copies alone, from and to memory that is kept.</summary>
    public TrialTable RunWarm(int trials)
    {
        TrialTable table = new([.. _methods.Select(method => method.Name)], Names());
        PageBuffer[] sources = [.. _kinds.Select(kind => kind.Allocate())];
        PageBuffer[] destinations = [.. _kinds.Select(kind => kind.Allocate())];
        for (int trial = -1; trial < trials; trial++)
        {
            for (int test = 0; test < _methods.Count; test++)
            {
                for (int turn = 0; turn < _kinds.Count; turn++)
                {
                    int kind = (turn + trial + 1) % _kinds.Count;
                    Trial result = CopyWarm(_kinds[kind], _methods[test], sources[kind], destinations[kind], IsCompared(trial, trials));
                    if (trial >= 0)
                    {
                        table.Add(test, kind, result);
                    }
                }
            }

            _onTrial(trial + 1);
        }

        for (int kind = 0; kind < _kinds.Count; kind++)
        {
            _kinds[kind].Free(destinations[kind]);
            _kinds[kind].Free(sources[kind]);
        }

        return table;
    }

    private static bool IsCompared(int trial, int trials) => trial % TrialsPerComparison == 0 || trial == trials - 1;

    private string[] Names() => [.. _kinds.Select(kind => kind.Name)];

    private Trial AllocateAndFree(BufferKind kind)
    {
        _meter.Start();
        kind.AllocateAndFree(AllocationsPerTrial);
        _meter.Stop();
        return _meter.Take();
    }

    // Nobody copies what was never written: on Linux that would read one page of zeros again and again.
    private Trial CopyFresh(BufferKind kind, CopyMethod method, bool isCompared)
    {
        _meter.Start();
        PageBuffer source = kind.Allocate();
        PageBuffer destination = kind.Allocate();
        _meter.Stop();
        Copy(kind, method, source, destination, isCompared);
        _meter.Start();
        kind.Free(destination);
        kind.Free(source);
        _meter.Stop();
        return _meter.Take();
    }

    private Trial CopyWarm(BufferKind kind, CopyMethod method, PageBuffer source, PageBuffer destination, bool isCompared)
    {
        Copy(kind, method, source, destination, isCompared);
        return _meter.Take();
    }

    private void Copy(BufferKind kind, CopyMethod method, PageBuffer source, PageBuffer destination, bool isCompared)
    {
        _seed++;
        if (isCompared)
        {
            PageContents.Write(source, _seed);
        }
        else
        {
            PageContents.Fill(source, _seed);
        }

        _meter.Start();
        method.Copy((byte*)source.Address, (byte*)destination.Address, A4Page.SizeInBytes);
        _meter.Stop();
        if (isCompared)
        {
            PageContents.Compare(source, destination, $"{method.Name}, {kind.Name}");
        }
    }
}
