using System.Runtime.InteropServices;
using Allocator.AspNetCore.Configuration;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.Options;

namespace Allocator.AspNetCore.Tests;

/// <summary>What Kestrel reads ahead is bounded without being asked, and what the application has set stays.</summary>
public class ServerReadBuffersTests
{
    [Fact]
    public async Task Start_WithNothingSet_BoundsAndLogsEachOnce()
    {
        await using Service service = await Service.StartAsync(_ => { });

        Assert.Equal((64 * 1024, 4 * 65_535, 65_535), Read(service.Services));
        Assert.Single(service.Log.Entries, entry => entry.Id == 9);
        Assert.Single(service.Log.Entries, entry => entry.Id == 10);
    }

    [Fact]
    public async Task Start_WithOwnSizes_KeepsThemAndLogsNothing()
    {
        await using Service service = await Service.StartAsync(_ => { }, builder =>
        {
            builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = 16);
            builder.WebHost.UseSockets(sockets => sockets.MaxReadBufferSize = null);
            builder.WebHost.ConfigureKestrel(kestrel => (
                kestrel.Limits.Http2.InitialConnectionWindowSize, kestrel.Limits.Http2.InitialStreamWindowSize) = (200_000, 100_000));
        });

        Assert.Equal((null, 200_000, 100_000), Read(service.Services));
        Assert.DoesNotContain(service.Log.Entries, entry => entry.Id is 9 or 10);
    }

    // The connection's is Kestrel's default.
    [Fact]
    public async Task Start_WithTheWindowsOfTheGuide_KeepsThem()
    {
        await using Service service = await Service.StartAsync(_ => { }, static builder =>
        {
            builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = 16);
            builder.WebHost.ConfigureKestrel(static kestrel =>
                (kestrel.Limits.Http2.InitialConnectionWindowSize, kestrel.Limits.Http2.InitialStreamWindowSize) = (1 << 20, 512 * 1024));
        });

        Assert.Equal((64 * 1024, 1 << 20, 512 * 1024), Read(service.Services));
        Assert.DoesNotContain(service.Log.Entries, static entry => entry.Id is 10);
    }

    [Fact]
    public void Start_WithTheSwitchOff_KeepsKestrelsValues()
    {
        RemoteInvokeOptions options = new();
        options.RuntimeConfigurationOptions.Add(ServerReadBuffers.Switch, false);
        RemoteExecutor.Invoke(
            static async () =>
            {
                await using Service service = await Service.StartAsync(_ => { });

                Http2Limits own = new();
                Assert.Equal(
                    (new SocketTransportOptions().MaxReadBufferSize, own.InitialConnectionWindowSize, own.InitialStreamWindowSize),
                    Read(service.Services));
                Assert.DoesNotContain(service.Log.Entries, entry => entry.Id is 9 or 10);
            },
            options).Dispose();
    }

    /// <summary>The allocator that validates the options is the first, and sets it.</summary>
    [SkippableFact]
    public void Start_WithMallocsMapThreshold_LogsItOnce()
    {
        Skip.If(
            !OperatingSystem.IsLinux() || RuntimeInformation.RuntimeIdentifier.Contains("musl", StringComparison.Ordinal),
            "Only glibc has mallopt.");
        RemoteInvokeOptions options = new();
        _ = options.StartInfo.Environment.Remove("MALLOC_MMAP_THRESHOLD_");
        RemoteExecutor.Invoke(
            static async () =>
            {
                await using Service service = await Service.StartAsync(_ => { }, static builder =>
                    builder.Services.AddMemoryAllocator(static options =>
                        (options.MemoryBudgetMegabytes, options.SetNativeMapThreshold) = (16, true)));
                _ = service.Services.GetRequiredService<MemoryAllocator>();

                Assert.Single(service.Log.Entries, static entry => entry.Id == 11);
            },
            options).Dispose();
    }

    /// <summary>A server of another kind never reads these options.</summary>
    [Fact]
    public void Build_WithoutKestrel_LogsNothing()
    {
        Log log = new();
        ServiceCollection services = new();
        services.AddLogging(logging => logging.AddProvider(log));
        services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = 16);

        using ServiceProvider provider = services.BuildServiceProvider();
        _ = provider.GetRequiredService<MemoryAllocator>();

        Assert.DoesNotContain(log.Entries, entry => entry.Id is 9 or 10);
    }

    private static (long? Transport, int Connection, int Stream) Read(IServiceProvider services)
    {
        Http2Limits limits = services.GetRequiredService<IOptions<KestrelServerOptions>>().Value.Limits.Http2;
        return (
            services.GetRequiredService<IOptions<SocketTransportOptions>>().Value.MaxReadBufferSize,
            limits.InitialConnectionWindowSize,
            limits.InitialStreamWindowSize);
    }
}
