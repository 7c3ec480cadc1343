using System;
using System.Collections.Generic;
using System.Threading;
using A4Copy.Buffers;
using A4Copy.Copying;

namespace A4Copy.Trials;

/// <summary>Does the tests with one kind of memory.</summary>
internal sealed unsafe class TrialBench
{
    /// <summary>How often the first test allocates and frees in a trial.</summary>
    public const int AllocationsPerTrial = 100;

    // Enough calls for the compiler to be done, at a size that costs nothing.
    private const int WarmUpCalls = 200;
    private const int WarmUpLength = 4096;

    private static readonly TimeSpan s_compilerTurn = TimeSpan.FromMilliseconds(150);

    private readonly MemoryKind _kind;
    private readonly BufferSource _buffers;
    private readonly IReadOnlyList<CopyMethod> _methods = CopyMethod.All;
    private readonly Meter _meter = new();
    private (PageBuffer Source, PageBuffer Destination)? _kept;

    /// <summary>Prepares the tests with <paramref name="kind"/>, and has the compiler do its work.</summary>
    public TrialBench(MemoryKind kind)
    {
        _kind = kind;
        _buffers = BufferSource.Create(kind);
        WarmUp();
    }

    /// <summary>Does one trial of one test.</summary>
    public Trial Run(TrialStep step)
    {
        if (step.IsWarm)
        {
            // Never freed: the process ends behind the warm trials.
            (PageBuffer source, PageBuffer destination) = _kept ??= (_buffers.Allocate(), _buffers.Allocate());
            Copy(step, source, destination);
        }
        else if (step.Test == 0)
        {
            _meter.Start();
            _buffers.AllocateAndFree(AllocationsPerTrial);
            _meter.Stop();
        }
        else
        {
            CopyFresh(step);
        }

        return _meter.Take();
    }

    private void WarmUp()
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

            _buffers.AllocateAndFree(WarmUpCalls);
            Thread.Sleep(s_compilerTurn);
        }
    }

    private void CopyFresh(TrialStep step)
    {
        _meter.Start();
        PageBuffer source = _buffers.Allocate();
        PageBuffer destination = _buffers.Allocate();
        _meter.Stop();
        Copy(step, source, destination);
        _meter.Start();
        _buffers.Free(destination);
        _buffers.Free(source);
        _meter.Stop();
    }

    // The source is written to, outside of the time: nobody copies what was never written, and on Linux that would read
    // one page of zeros again and again.
    private void Copy(TrialStep step, PageBuffer source, PageBuffer destination)
    {
        CopyMethod method = _methods[step.Test - 1];
        if (step.IsCompared)
        {
            PageContents.Write(source, step.Seed);
        }
        else
        {
            PageContents.Touch(source);
        }

        _meter.Start();
        method.Copy((byte*)source.Address, (byte*)destination.Address, A4Page.SizeInBytes);
        _meter.Stop();
        if (step.IsCompared)
        {
            PageContents.Compare(source, destination, $"{method.Name}, {BufferSource.Name(_kind)}");
        }
    }
}
