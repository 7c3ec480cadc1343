using System.Reflection;
using Allocator.Allocators;

namespace Allocator.Tests;

public class MemoryAllocatorOptionsTests
{
    public static IEnumerable<object[]> OutOfRange =>
    [
        ["MaximumPoolSizeMegabytes", new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = -1 }],
        ["AllocationLimitMegabytes", new MemoryAllocatorOptions { AllocationLimitMegabytes = 0 }],
        ["AllocationLimitMegabytes", new MemoryAllocatorOptions { AllocationLimitMegabytes = -5 }],
        ["TrimPeriod", new MemoryAllocatorOptions { TrimPeriod = TimeSpan.Zero }],
        ["TrimPeriod", new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromSeconds(-1) }],
        ["TrimPeriod", new MemoryAllocatorOptions { TrimPeriod = TimeSpan.MaxValue }],
        ["TrimRate", new MemoryAllocatorOptions { TrimRate = -0.1 }],
        ["TrimRate", new MemoryAllocatorOptions { TrimRate = 1.1 }],
        ["TrimRate", new MemoryAllocatorOptions { TrimRate = double.NaN }],
        ["NativeMemory", new MemoryAllocatorOptions { NativeMemory = (NativeMemoryKind)9 }],
        ["HugePages", new MemoryAllocatorOptions { HugePages = (HugePages)9 }],
        ["MaximumPoolSizeMegabytes", new MemoryAllocatorOptions { KeepBlocks = true }],
        ["MaximumPoolSizeMegabytes", new MemoryAllocatorOptions { KeepBlocks = true, MaximumPoolSizeMegabytes = 3 }],
        ["MaximumPoolSizeMegabytes", new MemoryAllocatorOptions
        {
            KeepBlocks = true,
            MaximumPoolSizeMegabytes = 65,
            MemoryBudgetMegabytes = 64,
        }],
        ["MinimumFreeMegabytes", new MemoryAllocatorOptions { MinimumFreeMegabytes = -1 }],
        ["SafetySampleInterval", new MemoryAllocatorOptions { SafetySampleInterval = 0 }],
        ["OverreadToleranceInBytes", new MemoryAllocatorOptions { OverreadToleranceInBytes = -1 }],
        ["OverreadToleranceInBytes", new MemoryAllocatorOptions { OverreadToleranceInBytes = 4097 }],
        ["Abandoned", new MemoryAllocatorOptions { Abandoned = (AbandonedMemory)(-1) }],
    ];

    [Theory]
    [MemberData(nameof(OutOfRange))]
    public void Create_ValueOutOfRange_ThrowsNamingIt(string name, MemoryAllocatorOptions options) =>
        Assert.Contains(name, Assert.Throws<ArgumentOutOfRangeException>(name, () => MemoryAllocator.Create(options)).Message);

    [Fact]
    public void Create_KeptPoolWithoutASize_SaysThatItIsNotSet() =>
        Assert.Contains(
            "MaximumPoolSizeMegabytes is not set;",
            Assert.Throws<ArgumentOutOfRangeException>(
                () => MemoryAllocator.Create(new MemoryAllocatorOptions { KeepBlocks = true })).Message);

    // Configuration binding, and services.Configure, change objects that others have.
    [Fact]
    public void Create_OptionsChangeLater_HasNoEffect()
    {
        MemoryAllocatorOptions options = new() { Name = "before", MemoryBudgetMegabytes = 8, AllocationLimitMegabytes = 2 };
        using MemoryAllocator allocator = MemoryAllocator.Create(options);
        options.Name = "after";
        options.AllocationLimitMegabytes = 1;
        options.BudgetTimeout = Timeout.InfiniteTimeSpan;
        options.PreferContiguous = true;
        Assert.Equal("before", allocator.Name);
        using (allocator.Allocate<byte>(2 << 20))
        using (allocator.TrackExternalMemory(4 << 20))
        {
            Assert.Throws<MemoryLimitExceededException>(() => allocator.TrackExternalMemory(4 << 20));
        }
    }

    [Fact]
    public void Settings_OfOptions_HaveACopyOfEachProperty()
    {
        MemoryAllocatorOptions options = new() { KeepBlocks = true, MaximumPoolSizeMegabytes = 8, BlockCommitted = static (_, _) => { } };
        MemoryAllocatorOptions copy = new AllocatorSettings(options).Options;
        Assert.NotSame(options, copy);
        PropertyInfo[] properties = typeof(MemoryAllocatorOptions).GetProperties();
        Assert.Equal(properties.Select(property => property.GetValue(options)), properties.Select(property => property.GetValue(copy)));
        Assert.All(properties.Select(static property => property.SetMethod!.ReturnParameter), static setter =>
            Assert.DoesNotContain(typeof(IsExternalInit), setter.GetRequiredCustomModifiers()));
    }

    [Fact]
    public void Create_Null_Throws() => Assert.Throws<ArgumentNullException>("options", () => MemoryAllocator.Create(null!));

    [Fact]
    public void Create_PoolOfZero_RetainsNothing()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0 });
        allocator.Allocate<byte>(3 * 1024 * 1024).Dispose();
        allocator.AllocateGroup<byte>(70 * 1024 * 1024).Dispose();
        Assert.Equal((0, 0), (allocator.GetStatistics().RetainedBytes, allocator.GetStatistics().CommittedBytes));
    }

    [Fact]
    public void Create_PoolSizeBetweenBlocks_IsRoundedDown()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 7 });
        allocator.Prewarm(long.MaxValue);
        Assert.Equal(4 * 1024 * 1024, allocator.GetStatistics().RetainedBytes);
    }
}
