namespace Measuring.Tests;

public class MeasurementCommandTests
{
    [Fact]
    public async Task Measures_OutputThatCannotBeWritten_FailsBeforeItMeasures()
    {
        using TemporaryFolder folder = new();
        await File.WriteAllTextAsync(folder.At("file"), "");
        bool hasMeasured = false;
        RootCommand command = new RootCommand().Measures("Some", _ =>
        {
            hasMeasured = true;
            return null;
        });

        Assert.Equal(1, await command.Parse(["--output", Path.Combine(folder.Path, "file", "results")]).InvokeAsync());
        Assert.False(hasMeasured);
    }

    [Fact]
    public async Task Measures_FileThatIsNotThere_FailsWithoutAStackTrace()
    {
        using TemporaryFolder folder = new();
        RootCommand command = new RootCommand().Measures("Some", _ => throw new FileNotFoundException("There is no picture."));

        Assert.Equal(1, await command.Parse(["--output", folder.Path]).InvokeAsync());
        Assert.Empty(Directory.GetFiles(folder.Path));
    }
}
