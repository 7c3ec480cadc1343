namespace Measuring.Tests.Machines;

public class ThisMachineTests
{
    [Theory]
    [InlineData("AMD EPYC", "amd-epyc")]
    [InlineData("Intel(R) Xeon(R) Processor", "intel-xeon")]
    [InlineData("Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz", "intel-core-i7-8700")]
    public void FolderName_OfAProcessor_LeavesOutCommonWords(string processor, string expected)
        => Assert.Equal(expected, ThisMachine.FolderName(Documents.Create().Machine with { Processor = processor }));

    [Fact]
    public void Describe_ThisMachine_HasAllFields()
    {
        MachineDescription machine = ThisMachine.Describe();

        Assert.NotEmpty(machine.Processor);
        Assert.True(machine.Cores >= 1 && machine.MemoryBytes > 0 && machine.PageSize >= 4096 && machine.FirstWriteMicroseconds > 0);
    }

    [Fact]
    public void Describe_AsText_NamesProcessorCoresMemorySystemAndRuntime()
        => Assert.Equal("Some(R) Processor, 2 cores, 25 GB, Some Linux, .NET 10.0.0", MachineText.Describe(Documents.Create().Machine));
}
