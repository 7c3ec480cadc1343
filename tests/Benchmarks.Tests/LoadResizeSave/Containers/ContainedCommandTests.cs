using System.CommandLine;
using LoadResizeSave.Containers;

namespace LoadResizeSave.Tests.Containers;

public class ContainedCommandTests
{
    private static readonly ContainedOptions s_options = new()
    {
        Way = "reserve",
        LimitMegabytes = 350,
        Workers = 64,
        Jobs = 128,
        Kinds = [JobKind.Whole, JobKind.Truncated],
        Pictures = ["/a b/c.jpg", "d.png"],
        WarmUp = ["small.png"],
        SettleSeconds = 0.5,
        TrimPeriodSeconds = 1.5,
        Explains = true,
    };

    [Fact]
    public void ChildArguments_ReadBack_AreTheSameWork()
    {
        ContainedOptions read = Read(s_options);

        Assert.Equal(
            (
                s_options.Way, s_options.LimitMegabytes, s_options.Workers, s_options.Jobs, s_options.SettleSeconds,
                s_options.TrimPeriodSeconds, s_options.Explains),
            (read.Way, read.LimitMegabytes, read.Workers, read.Jobs, read.SettleSeconds, read.TrimPeriodSeconds, read.Explains));
        Assert.Equal(s_options.Kinds, read.Kinds);
        Assert.Equal(s_options.Pictures, read.Pictures);
        Assert.Equal(s_options.WarmUp, read.WarmUp);
    }

    [Fact]
    public void ChildArguments_OfTheLeast_HaveDefaults()
    {
        ContainedOptions read = Read(
            new ContainedOptions { Way = "gc", LimitMegabytes = 256, Workers = 1, Jobs = 1, Pictures = ["a.jpg"] });

        Assert.Equal([JobKind.Whole], read.Kinds);
        Assert.Empty(read.WarmUp);
        Assert.Null(read.TrimPeriodSeconds);
        Assert.False(read.Explains);
    }

    private static ContainedOptions Read(ContainedOptions options)
    {
        ParseResult parsed = new RootCommand { ContainedCommand.Create() }.Parse([.. ContainedCommand.ChildArguments(options)]);
        Assert.Empty(parsed.Errors);
        return ContainedCommand.Read(parsed);
    }
}
