namespace LoadResizeSave.Tests;

public class CommandLineTests
{
    private static readonly string s_work = Path.GetFullPath(Path.Combine("artifacts", "load-resize-save"));
    private static readonly string s_results = Path.GetFullPath(Path.Combine("artifacts", "results"));

    [Fact]
    public void Read_NoArguments_IsOneRunOfAllInOneFolder()
    {
        JobOptions options = Read();

        Assert.Equal((1, s_work, s_work), (options.Runs, options.Output, options.Work));
        Assert.Equal([AllocatorKind.Pool, AllocatorKind.Unpooled, AllocatorKind.ArrayPool, AllocatorKind.GC], options.Allocators);
        Assert.Equal(Path.Combine(s_work, "memory.svg"), options.Chart);
        Assert.Equal(Path.GetFullPath("there"), Read("--output", "there").Work);
    }

    [Fact]
    public void Read_SeveralRuns_LeavesResultsWhereOtherProgramsDoAndNoPicturesThere()
    {
        JobOptions options = Read("--runs", "40", "--allocator", "arraypool", "pool");

        Assert.Equal((40, s_results, s_work), (options.Runs, Path.GetDirectoryName(options.Output), options.Work));
        Assert.Equal(Path.Combine(options.Output, "LoadResizeSave-memory.svg"), options.Chart);
        Assert.Equal([AllocatorKind.Pool, AllocatorKind.ArrayPool], options.Allocators);
    }

    [Fact]
    public void Read_MemoryLimits_IsTheJobInEachAtEachParallelism()
    {
        JobOptions options = Read("--memory-limit", "350", "500", "--parallelism", "1", "8");

        Assert.Equal([350, 500], options.MemoryLimits);
        Assert.Equal([1, 8], options.Parallelisms);
        Assert.Contains(AllocatorKind.Budget, options.Allocators);
        Assert.Equal(s_results, Path.GetDirectoryName(options.Output));
    }

    [Theory]
    [InlineData("--runs", "0")]
    [InlineData("--allocator", "other")]
    [InlineData("--parallelism", "0")]
    [InlineData("--parallelism", "1", "2")]
    [InlineData("--memory-limit", "350", "--runs", "2")]
    [InlineData("--memory-limit", "10")]
    [InlineData("survive", "--ways", "other")]
    [InlineData("survive", "--limits", "10")]
    [InlineData("chaos", "--scenarios", "other")]
    public void Parse_WhatCannotBe_HasAnError(params string[] arguments)
    {
        RootCommand root = JobCommand.Create();
        root.Add(SurvivalMeasurement.Create());
        root.Add(ChaosMeasurement.Create());

        Assert.NotEmpty(root.Parse(arguments).Errors);
    }

    private static JobOptions Read(params string[] arguments) => JobCommand.Read(JobCommand.Create().Parse(arguments));
}
