using System;
using BenchmarkDotNet.Attributes;

namespace Allocator.Benchmarks.Tests.Reporting;

/// <summary>Two benchmarks of which one fails, for BenchmarkDotNet to summarize.</summary>
[MemoryDiagnoser]
public class SampleBenchmarks
{
    private const int Operations = 4;

    [Params(1, 2)]
    public int Kilobytes { get; set; }

    [Benchmark(Baseline = true, Description = "a new array", OperationsPerInvoke = Operations)]
    public byte[] Allocate()
    {
        byte[] array = [];
        for (int i = 0; i < Operations; i++)
        {
            array = new byte[Kilobytes << 10];
        }

        return array;
    }

    [Benchmark]
    public void Fail() => throw new InvalidOperationException("as it should");
}
