using System.Globalization;
using System.Reflection;
using Allocator.AspNetCore.Configuration;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Options;

namespace Allocator.AspNetCore.Tests;

/// <summary>Options from configurations and from code, what is refused at start, and what a change does.</summary>
public class ConfigurationTests
{
    // A value of each key that is not the default, all of them together valid.
    private static readonly Dictionary<string, string?> s_all = new()
    {
        ["Name"] = "photos",
        ["MaximumPoolSizeMegabytes"] = "32",
        ["AllocationLimitMegabytes"] = "100",
        ["MemoryBudgetMegabytes"] = "200",
        ["BudgetTimeout"] = "00:00:05",
        ["HonorMemoryLimit"] = "false",
        ["MinimumFreeMegabytes"] = "10",
        ["TrimNativeHeap"] = "true",
        ["PopulateMemory"] = "true",
        ["SetNativeMapThreshold"] = "false",
        ["PreferContiguous"] = "true",
        ["NativeMemory"] = "Heap",
        ["HugePages"] = "Off",
        ["TrimPeriod"] = "00:00:30",
        ["TrimRate"] = "0.25",
        ["KeepBlocks"] = "true",
        ["ClearOnReturn"] = "true",
        ["Abandoned"] = "Reuse",
        ["CollectToFindAbandoned"] = "false",
        ["Safety"] = "Sampled",
        ["SafetySampleInterval"] = "500",
        ["OverreadToleranceInBytes"] = "128",
    };

    [Fact]
    public void Options_FromAConfiguration_HaveAllKeys()
    {
        MemoryAllocatorOptions options = Options(s_all);

        Dictionary<string, string> read = OptionKeys.Read(options);
        Assert.Equal(
            s_all.ToDictionary(pair => pair.Key, pair => pair.Value!, StringComparer.OrdinalIgnoreCase),
            read,
            (expected, actual) => expected.All(pair => string.Equals(pair.Value, actual[pair.Key], StringComparison.OrdinalIgnoreCase)));
        Dictionary<string, string> defaults = OptionKeys.Read(new MemoryAllocatorOptions());
        Assert.All(read, pair => Assert.NotEqual(defaults[pair.Key], pair.Value));
    }

    // MemoryAllocator__MemoryBudgetMegabytes=100 of the environment, in the program of the guides.
    [Fact]
    public void AddMemoryAllocator_WithoutASection_ReadsThatOfTheHost()
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        builder.Configuration["MemoryAllocator:MemoryBudgetMegabytes"] = "100";
        builder.Configuration["MemoryAllocator:TrimRate"] = "0.5";
        builder.Services.AddMemoryAllocator(static options => options.TrimRate = 0.25);
        using WebApplication app = builder.Build();
        MemoryAllocatorOptions options = app.Services.GetRequiredService<IOptions<MemoryAllocatorOptions>>().Value;
        Assert.Equal((100, 0.25), (options.MemoryBudgetMegabytes, options.TrimRate));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void AddMemoryAllocator_WithASection_ReadsOnlyThat(bool isLater)
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        builder.Configuration["MemoryAllocator:TheirOwn"] = "a key that no allocator has";
        builder.Configuration["Imaging:MemoryBudgetMegabytes"] = "100";
        if (isLater)
        {
            builder.Services.AddMemoryAllocator();
        }

        builder.Services.AddMemoryAllocator(builder.Configuration.GetSection("Imaging"));
        using WebApplication app = builder.Build();
        Assert.Equal(100, app.Services.GetRequiredService<IOptions<MemoryAllocatorOptions>>().Value.MemoryBudgetMegabytes);
    }

    [Fact]
    public void AddMemoryAllocator_NoConfigurationIsRegistered_HasTheDefaults()
    {
        using ServiceProvider services = new ServiceCollection().AddMemoryAllocator().BuildServiceProvider();
        Assert.Null(services.GetRequiredService<IOptions<MemoryAllocatorOptions>>().Value.MemoryBudgetMegabytes);
    }

    /// <summary>A new option of the library is forgotten nowhere.</summary>
    [Fact]
    public void Keys_OfAConfiguration_AreAllOptionsExceptTheHooks()
    {
        string[] options = [.. typeof(MemoryAllocatorOptions).GetProperties(BindingFlags.Public | BindingFlags.Instance)
            .Where(property => !typeof(Delegate).IsAssignableFrom(property.PropertyType)).Select(property => property.Name).Order()];

        Assert.Equal(options, OptionKeys.All.Order());
        Assert.Equal(options, typeof(ConfiguredOptions).GetProperties().Select(property => property.Name).Order());
        Assert.Equal(options, s_all.Keys.Order());
    }

    [Fact]
    public void Options_KeysThatAreMissingNullOrEmpty_StayAtTheirDefaults()
    {
        MemoryAllocatorOptions options = Options(
            new() { ["MemoryBudgetMegabytes"] = null, ["BudgetTimeout"] = "", ["HugePages"] = "", ["minimumfreemegabytes"] = "7" });

        Dictionary<string, string> read = OptionKeys.Read(options);
        Dictionary<string, string> defaults = OptionKeys.Read(new MemoryAllocatorOptions());
        Assert.Equal("MinimumFreeMegabytes: not set → 7", OptionKeys.Differences(defaults, read));
    }

    [Theory]
    [InlineData("MemoryBudgetMegabyte", "200", "MemoryBudgetMegabyte", "MemoryBudgetMegabytes,")]
    [InlineData("MemoryBudgetMegabytes", "much", "'much'", "'Memory:MemoryBudgetMegabytes'")]
    [InlineData("MemoryBudgetMegabytes", "0", "MemoryBudgetMegabytes is 0", "must be at least 1")]
    [InlineData("MemoryBudgetMegabytes", "-5", "MemoryBudgetMegabytes is -5", "must be at least 1")]
    [InlineData("MemoryBudgetMegabytes", "99999999999", "'99999999999'", "Correct the value")]
    [InlineData("MemoryBudgetMegabytes:More", "1", "'Memory:MemoryBudgetMegabytes'", "must be one value")]
    [InlineData("TrimRate", "NaN", "TrimRate is NaN", "from 0 to 1")]
    [InlineData("BudgetTimeout", "-00:00:05", "BudgetTimeout is -00:00:05", "must be from zero")]
    [InlineData("NativeMemory", "Stack", "'Stack'", "'Memory:NativeMemory'")]
    [InlineData("HugePages", "9", "HugePages is 9", "defined value")]
    [InlineData("BlockCommitted", "x", "BlockCommitted", "no option")]
    public async Task Start_InvalidValue_SaysWhichAndWhy(string key, string value, string which, string why)
    {
        OptionsValidationException exception = await Assert.ThrowsAsync<OptionsValidationException>(() => Service.StartAsync(
            _ => { },
            builder =>
            {
                builder.Configuration.AddInMemoryCollection([new($"Memory:{key}", value)]);
                builder.Services.AddMemoryAllocator(builder.Configuration.GetSection("Memory"));
            }));

        Assert.Contains(which, exception.Message, StringComparison.Ordinal);
        Assert.Contains(why, exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Start_SubsectionOfAnother_IsLeftAlone()
    {
        await using Service service = await Service.StartAsync(
            _ => { },
            builder =>
            {
                builder.Configuration.AddInMemoryCollection(
                    [new("Memory:MemoryBudgetMegabytes", "16"), new("Memory:Uploads:MemoryBudgetMegabytes", "8")]);
                builder.Services.AddMemoryAllocator(builder.Configuration.GetSection("Memory"));
                builder.Services.AddMemoryAllocator("uploads", builder.Configuration.GetSection("Memory:Uploads"));
            });

        using MemoryReservation all = await service.Allocator.ReserveAsync(16 << 20);
        MemoryAllocator uploads = service.Services.GetRequiredKeyedService<MemoryAllocator>("uploads");
        Assert.Equal(("uploads", false), (uploads.Name, uploads.TryReserve(9 << 20, out MemoryReservation? none)));
        Assert.Null(none);
    }

    [Fact]
    public void Options_OfSeveralCalls_CombineWithCodeLast()
    {
        ServiceCollection services = new();
        services.AddMemoryAllocator(Section(new() { ["MemoryBudgetMegabytes"] = "100", ["TrimRate"] = "0.1" }), o => o.TrimRate = 0.2);
        services.AddMemoryAllocator(options => options.PreferContiguous = true);
        services.Configure<MemoryAllocatorOptions>(options => options.ClearOnReturn = true);

        using ServiceProvider provider = services.BuildServiceProvider();
        MemoryAllocatorOptions options = provider.GetRequiredService<IOptions<MemoryAllocatorOptions>>().Value;

        Assert.Equal(
            (100, 0.2, true, true),
            (options.MemoryBudgetMegabytes, options.TrimRate, options.PreferContiguous, options.ClearOnReturn));
        Assert.Single(provider.GetServices<MemoryAllocator>());
    }

    [Fact]
    public void AddMemoryAllocator_AfterAnotherRegistration_IsRefused()
    {
        ServiceCollection services = new();
        services.AddSingleton(_ => MemoryAllocator.Create());
        services.AddKeyedSingleton("uploads", (_, _) => MemoryAllocator.Create());

        Assert.Throws<InvalidOperationException>(() => services.AddMemoryAllocator());
        Assert.Throws<InvalidOperationException>(() => services.AddMemoryAllocator("uploads"));
        Assert.Throws<ArgumentException>(() => services.AddMemoryAllocator(""));
        services.AddMemoryAllocator("thumbnails");
    }

    [Fact]
    public async Task Configuration_Changes_AllocatorKeepsItsOptionsAndLogsOnce()
    {
        MemoryConfigurationSource source = new();
        source.Provider.Set("Memory:MemoryBudgetMegabytes", "16");
        await using Service service = await Service.StartAsync(
            _ => { },
            builder =>
            {
                ((IConfigurationBuilder)builder.Configuration).Add(source);
                builder.Services.AddMemoryAllocator(builder.Configuration.GetSection("Memory"));
                builder.Services.AddMemoryAllocator("other", options => options.MemoryBudgetMegabytes = 1);
            });

        source.Provider.Reload();
        Assert.Empty(Warnings(service));

        source.Provider.Set("Memory:MemoryBudgetMegabytes", "300");
        source.Provider.Reload();
        source.Provider.Reload();
        Log.Entry warning = Assert.Single(Warnings(service));
        Assert.Contains("MemoryBudgetMegabytes: 16 → 300", warning.Message, StringComparison.Ordinal);
        Assert.False(service.Allocator.TryReserve(17 << 20, out MemoryReservation? none));
        Assert.Null(none);
        Assert.Equal(
            16, service.Services.GetRequiredService<IOptionsMonitor<MemoryAllocatorOptions>>().CurrentValue.MemoryBudgetMegabytes);

        source.Provider.Set("Memory:MemoryBudgetMegabytes", "400");
        source.Provider.Reload();
        Assert.Equal(2, Warnings(service).Length);

        // Values that the next start would refuse end nothing now.
        source.Provider.Set("Memory:MemoryBudgetMegabytes", "much");
        source.Provider.Reload();
        source.Provider.Reload();
        Assert.Contains("'much'", Warnings(service)[2].Message, StringComparison.Ordinal);

        source.Provider.Set("Memory:MemoryBudgetMegabytes", "16");
        source.Provider.Reload();
        Assert.Equal(3, Warnings(service).Length);
    }

    /// <summary>Bound as any options are, without this package.</summary>
    [Fact]
    public async Task Configuration_BoundByTheApplication_IsWatchedToo()
    {
        MemoryConfigurationSource source = new();
        source.Provider.Set("Memory:MemoryBudgetMegabytes", "16");
        await using Service service = await Service.StartAsync(
            _ => { },
            builder =>
            {
                ((IConfigurationBuilder)builder.Configuration).Add(source);
                builder.Services.AddMemoryAllocator();
                builder.Services.Configure<MemoryAllocatorOptions>(builder.Configuration.GetSection("Memory"));
            });

        source.Provider.Set("Memory:MemoryBudgetMegabytes", "300");
        source.Provider.Reload();

        Assert.Contains("MemoryBudgetMegabytes: 16 → 300", Assert.Single(Warnings(service)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Start_AllocatorReplacesTheConfiguredOne_LogsAWarning()
    {
        await using Service service = await Service.StartAsync(_ => { }, builder => builder.Services
            .AddMemoryAllocator(options => options.MemoryBudgetMegabytes = 1)
            .AddSingleton(_ => MemoryAllocator.Create()));

        Assert.Contains("registered again after AddMemoryAllocator()", Assert.Single(Warnings(service)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Start_BudgetAboveAvailableMemory_LogsAWarning()
    {
        await using Service service = await Service.StartAsync(_ => { }, builder => builder.Services
            .AddMemoryAllocator(options => options.MemoryBudgetMegabytes = int.MaxValue)
            .AddMemoryAllocator("free", options => options.MinimumFreeMegabytes = int.MaxValue));

        Assert.Equal([3, 4], Warnings(service).Select(entry => entry.Id));
        Assert.All(Warnings(service), entry => Assert.Contains(
            int.MaxValue.ToString(CultureInfo.InvariantCulture), entry.Message, StringComparison.Ordinal));
    }

    private static Log.Entry[] Warnings(Service service) => [.. service.Log.Entries.Where(entry => entry.Level == LogLevel.Warning)];

    private static IConfigurationSection Section(Dictionary<string, string?> values) =>
        new ConfigurationBuilder().AddInMemoryCollection(values.Select(pair => KeyValuePair.Create($"Memory:{pair.Key}", pair.Value)))
            .Build().GetSection("Memory");

    private static MemoryAllocatorOptions Options(Dictionary<string, string?> values)
    {
        ServiceCollection services = new();
        services.AddMemoryAllocator(Section(values));
        using ServiceProvider provider = services.BuildServiceProvider();
        return provider.GetRequiredService<IOptions<MemoryAllocatorOptions>>().Value;
    }
}
