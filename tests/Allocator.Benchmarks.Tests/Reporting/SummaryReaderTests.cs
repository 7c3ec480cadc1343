using System.Collections.Generic;
using System.IO;
using System.Linq;
using Allocator.Benchmarks.Reporting;
using Allocator.Benchmarks.Running;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Running;
using Xunit;

namespace Allocator.Benchmarks.Tests.Reporting;

public class SummaryReaderTests
{
    [Fact]
    public void Read_RealSummary_FindsFiguresAndFailures()
    {
        string folder = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());
        try
        {
            // Tests are built for debugging too, which BenchmarkDotNet refuses to measure.
            IConfig config = ManualConfig.CreateEmpty()
                .AddJob(RunLength.Quick.Job)
                .AddLogger(NullLogger.Instance)
                .WithArtifactsPath(folder)
                .WithOptions(ConfigOptions.DisableOptimizationsValidator);

            IReadOnlyList<MeasuredCase> cases = SummaryReader.Read(BenchmarkRunner.Run<SampleBenchmarks>(config));

            Assert.Equal(["Allocate 1", "Fail 1", "Allocate 2", "Fail 2"], cases.Select(measured => $"{measured.Method} {measured.Parameters.Single().Value}"));
            Assert.All(cases, measured => Assert.Equal("Kilobytes", measured.Parameters.Single().Name));
            Assert.All(cases.Where(measured => measured.Method == nameof(SampleBenchmarks.Allocate)), measured =>
            {
                Assert.True(measured.IsBaseline);
                Assert.Equal("a new array", measured.Description);
                Assert.True(measured.Mean > 0);
                Assert.Null(measured.Error);

                // How much it is, in one run of one call in a process of tests, is BenchmarkDotNet's guess: it has been 0.
                Assert.NotNull(measured.AllocatedBytes);
            });
            Assert.All(cases.Where(measured => measured.Method == nameof(SampleBenchmarks.Fail)), measured =>
            {
                Assert.Null(measured.Mean);
                Assert.Null(measured.AllocatedBytes);
            });
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }
}
