using System.IO;
using System.Linq;
using Allocator.Benchmarks.Running;
using Measuring.Machines;
using Measuring.Results;
using Spectre.Console;
using Xunit;

namespace Allocator.Benchmarks.Tests.Running;

public class BenchmarkRunTests
{
    [Fact]
    public void Run_FilterThatMatchesNothing_FailsAndNamesTheClasses()
    {
        using StringWriter text = new();
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings { Ansi = AnsiSupport.No, Out = new AnsiConsoleOutput(text) });
        ResultDocument empty = new() { Program = "", Title = "", Command = "", Date = default, Machine = ThisMachine.Describe(), Tables = [] };

        int exitCode = new BenchmarkRun(RunLength.Quick, ["NoSuchBenchmark"], console).Run(empty, Path.GetTempPath());

        Assert.Equal(1, exitCode);
        Assert.Contains("NoSuchBenchmark", text.ToString());
        Assert.Contains("Allocator.Benchmarks.Contention.ContentionBenchmarks.", text.ToString());
    }

    [Fact]
    public void Classes_OfThisProgram_AreAllThatTheDesignLists()
        => Assert.Equal(
            [
                "CleanBenchmarks", "ContentionBenchmarks", "LoadResizeSaveBenchmarks", "BlockBenchmarks", "ContiguousBenchmarks", "GroupBenchmarks",
                "SmallBufferBenchmarks", "FirstTouchBenchmarks", "PurgeBenchmarks", "TouchedImageBenchmarks", "RowAccessBenchmarks",
            ],
            BenchmarkSelection.Classes.Select(type => type.Name));
}
