namespace LoadResizeSave.Tests;

public class CommandLineTests
{
    [Fact]
    public void Read_NoArguments_IsOneRunOfAll()
    {
        JobOptions options = JobCommand.Read(Run());

        Assert.Equal((1, 3, 10, null), (options.Runs, options.Repeat, options.SyntheticCount, options.SyntheticMegapixels));
        Assert.Equal([AllocatorKind.Pool, AllocatorKind.Unpooled, AllocatorKind.ArrayPool, AllocatorKind.GC], options.Allocators);
    }

    [Fact]
    public void Read_Quick_ChangesOnlyUnsetOptions()
    {
        JobOptions options = JobCommand.Read(Run("--quick", "--repeat", "2", "--allocator", "arraypool", "pool"));

        Assert.Equal((2, 4, 4d), (options.Repeat, options.SyntheticCount, options.SyntheticMegapixels));
        Assert.Equal([AllocatorKind.Pool, AllocatorKind.ArrayPool], options.Allocators);
    }

    [Theory]
    [InlineData(5, "--pipelines")]
    [InlineData(1, "--pipelines", "--quick")]
    [InlineData(3, "--pipelines", "--runs", "3", "--container", "350")]
    public void Read_Pipelines_HaveFiveRunsByDefault(int runs, params string[] arguments)
        => Assert.Equal(runs, JobCommand.Read(Run(arguments)).Runs);

    [Theory]
    [InlineData("--runs", "0")]
    [InlineData("--container", "12", "--pipelines")]
    [InlineData("--container", "350")]
    [InlineData("--allocator", "other")]
    [InlineData("--parallelism", "0")]
    [InlineData("--parallelism", "1", "2")]
    [InlineData("survive", "--ways", "other")]
    [InlineData("survive", "--limits", "10")]
    [InlineData("chaos", "--scenarios", "other")]
    public void Parse_InvalidArguments_HasAnError(params string[] arguments)
    {
        RootCommand root = JobCommand.Create();
        root.Add(SurvivalMeasurement.Create());
        root.Add(ChaosMeasurement.Create());

        Assert.NotEmpty(root.Parse(arguments).Errors);
    }

    internal static MeasurementRun Run(params string[] arguments)
        => new("LoadResizeSave", JobCommand.Create().Parse(arguments), arguments.Contains("--quick"), "results", ResultConsole.Create());
}
