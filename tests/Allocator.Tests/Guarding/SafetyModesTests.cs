namespace Allocator.Tests.Guarding;

public class SafetyModesTests
{
    [Theory]
    [InlineData(null, null, null, SafetyMode.Standard)]
    [InlineData(null, null, "sampled", SafetyMode.Sampled)]
    [InlineData(null, "", " ", SafetyMode.Standard)]
    [InlineData(null, " GUARDED ", "sampled", SafetyMode.Guarded)]
    [InlineData(null, "Standard", "Guarded", SafetyMode.Standard)]
    [InlineData(SafetyMode.Sampled, "Guarded", "Guarded", SafetyMode.Sampled)]
    [InlineData(SafetyMode.Standard, "nonsense", "nonsense", SafetyMode.Standard)]
    public void Resolve_OptionConfigurationEnvironment_ApplyInThatOrder(
        SafetyMode? option, string? configured, string? environment, SafetyMode expected) =>
        Assert.Equal(expected, option ?? Read(configured, environment));

    [Theory]
    [InlineData("Gaurded", null, "AppContext data Allocator.Safety is \"Gaurded\"")]
    [InlineData(null, "2", "environment variable ALLOCATOR_SAFETY is \"2\"")]
    [InlineData(null, "Sampled,Guarded", "ALLOCATOR_SAFETY is \"Sampled,Guarded\"")]
    public void Resolve_UnknownMode_ThrowsNamingSourceValueAndChoices(string? configured, string? environment, string expected)
    {
        InvalidOperationException e = Assert.Throws<InvalidOperationException>(() => Read(configured, environment));
        Assert.Contains(expected, e.Message);
        Assert.Contains("one of Standard, Sampled, Guarded", e.Message);
    }

    [Fact]
    public void Default_UnknownModeInTheEnvironment_ThrowsEveryTime() => RemoteExecutor.Invoke(
        static () =>
        {
            for (int i = 0; i < 2; i++)
            {
                InvalidOperationException e = Assert.Throws<InvalidOperationException>(static () => MemoryAllocator.Default);
                Assert.Contains("ALLOCATOR_SAFETY is \"on\"", e.Message);
            }

            Assert.Throws<InvalidOperationException>(static () => MemoryAllocator.Create());
            using MemoryAllocator told = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Standard });
        },
        new RemoteInvokeOptions { Environment = { ["ALLOCATOR_SAFETY"] = "on" } }).Dispose();

    [Fact]
    public void Create_ModeInTheConfiguration_IsUsed()
    {
        RemoteInvokeOptions options = new() { Environment = { ["ALLOCATOR_SAFETY"] = "Standard" } };
        options.RuntimeConfigurationOptions["Allocator.Safety"] = "guarded";
        RemoteExecutor.Invoke(
            static () =>
            {
                using IMemoryOwner<byte> owner = MemoryAllocator.Default.Allocate<byte>(100);
                Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)0xCD));
                Assert.NotNull(AllocationRecords.CurrentPath);
            },
            options).Dispose();
    }

    [Fact]
    public void Create_NothingConfigured_IsStandard() => RemoteExecutor.Invoke(
        static () =>
        {
            MemoryAllocator.Default.Allocate<byte>(100).Dispose();
            Assert.Equal(0, MemoryAllocator.Default.GetStatistics().CommittedBytes);
            Assert.Null(AllocationRecords.CurrentPath);
        },
        new RemoteInvokeOptions { Environment = { ["ALLOCATOR_SAFETY"] = "" } }).Dispose();

    private static SafetyMode Read(string? configured, string? environment) =>
        ProcessSwitch.Read("Allocator.Safety", configured, "ALLOCATOR_SAFETY", environment, SafetyMode.Standard);
}
