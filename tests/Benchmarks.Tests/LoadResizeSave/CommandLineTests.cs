using LoadResizeSave.Pixels;
using LoadResizeSave.Running;

namespace LoadResizeSave.Tests;

public class CommandLineTests
{
    private readonly CommandLine _commandLine = new();

    [Fact]
    public void Read_NoArguments_IsOneRunOfAllInOneFolder()
    {
        JobOptions options = _commandLine.Read([]);

        Assert.Equal(1, options.Runs);
        Assert.Equal([AllocatorKind.Pool, AllocatorKind.Unpooled, AllocatorKind.ArrayPool, AllocatorKind.GC], options.Allocators);
        Assert.Equal(Path.GetFullPath(Path.Combine("artifacts", "load-resize-save")), options.Output);
        Assert.Equal(options.Output, options.Work);
        Assert.Equal(Path.Combine(options.Output, "memory.svg"), options.Chart);
    }

    [Fact]
    public void Read_OneRunWithOutput_HasAllOfItThere()
    {
        JobOptions options = _commandLine.Read(["--output", "there"]);

        Assert.Equal(Path.GetFullPath("there"), options.Work);
    }

    [Fact]
    public void Read_SeveralRunsWithOutput_HasNoPicturesThere()
    {
        JobOptions options = _commandLine.Read(["--runs", "40", "--output", "there"]);

        Assert.Equal(40, options.Runs);
        Assert.Equal(Path.Combine(Path.GetFullPath("there"), "LoadResizeSave-memory.svg"), options.Chart);
        Assert.Equal(Path.GetFullPath(Path.Combine("artifacts", "load-resize-save")), options.Work);
    }

    [Fact]
    public void Read_SeveralRuns_LeavesResultsWhereOtherProgramsDo()
        => Assert.Equal(Path.GetFullPath(Path.Combine("artifacts", "results")), Path.GetDirectoryName(_commandLine.Read(["--runs", "2"]).Output));

    [Theory]
    [InlineData("-a", "arraypool", "-a", "pool")]
    [InlineData("-a", "arraypool", "pool", "arraypool")]
    public void Read_SomeAllocators_KeepsTheirOrder(params string[] arguments)
        => Assert.Equal([AllocatorKind.ArrayPool, AllocatorKind.Pool], _commandLine.Read(arguments).Allocators);

    [Theory]
    [InlineData("--runs", "0")]
    [InlineData("--runs", "2", "--chart", "there.svg")]
    [InlineData("--allocator", "other")]
    [InlineData("--parallelism", "0")]
    [InlineData("--memory-limit", "350", "--runs", "2")]
    [InlineData("--memory-limit", "10")]
    [InlineData("--budget", "0")]
    [InlineData("--allocator", "budget")]
    public void Parse_WhatCannotBe_HasAnErrorThatNamesTheOption(params string[] arguments)
        => Assert.Contains(_commandLine.Root.Parse(arguments).Errors, error => error.Message.Contains(arguments[^2]) || error.Message.Contains(arguments[^1]));

    [Fact]
    public void ChildArguments_OfSeveralRuns_LeadToTheSameWork()
    {
        JobOptions options = _commandLine.Read(["--runs", "2", "--work", "work", "--repeat", "5", "--trim-period", "0.25", "--no-libjpeg"]);

        JobOptions child = _commandLine.Read([.. _commandLine.ChildArguments(options, AllocatorKind.ArrayPool, Path.GetFullPath("pictures"))]);

        Assert.True(child.IsChild);
        Assert.Equal(
            (options.Work, options.Repeat, options.TrimPeriod, options.UseLibjpeg, Path.GetFullPath("pictures")),
            (child.Work, child.Repeat, child.TrimPeriod, child.UseLibjpeg, child.Input));
        Assert.Equal(AllocatorKind.ArrayPool, child.Allocators.Single());
    }

    [Fact]
    public void Read_MemoryLimits_IsTheJobInEachAtEachParallelism()
    {
        JobOptions options = _commandLine.Read(["--memory-limit", "350", "500", "--parallelism", "1", "8"]);

        Assert.Equal([350, 500], options.MemoryLimits);
        Assert.Equal([1, 8], options.Parallelisms);
        Assert.Contains(AllocatorKind.Budget, options.Allocators);
        Assert.Equal(Path.GetFullPath(Path.Combine("artifacts", "results")), Path.GetDirectoryName(options.Output));
    }

    [Fact]
    public void Parse_SeveralParallelismsWithoutLimit_IsRefused()
        => Assert.Contains(_commandLine.Root.Parse(["--parallelism", "1", "2"]).Errors, error => error.Message.Contains("--memory-limit"));

    [Fact]
    public void ChildArguments_OfATrial_CarryBudgetAndParallelism()
    {
        JobOptions options = _commandLine.Read(["--memory-limit", "350", "--no-idle"]) with { Parallelism = 7, BudgetMegabytes = 123 };

        JobOptions child = _commandLine.Read([.. _commandLine.ChildArguments(options, AllocatorKind.Budget, Path.GetFullPath("pictures"))]);

        Assert.Equal((7, 123, false, 0), (child.Parallelism, child.BudgetMegabytes, child.WatchesIdle, child.MemoryLimits.Count));
        Assert.Equal([AllocatorKind.Budget], child.Allocators);
    }
}
