using Allocator;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Worker;

// Each line of the input is a job, WIDTHxHEIGHT. A job runs when there is memory for it.
HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);

// One allocator for the process. The host disposes it.
builder.Services.AddSingleton(static _ =>
{
    // A fifth of the container, or of the machine, stays free for other code.
    long total = MemoryAllocator.Default.GetMemoryLoad().TotalBytes;
    return MemoryAllocator.Create(new MemoryAllocatorOptions
    {
        Name = "thumbnails",
        MinimumFreeMegabytes = (int)Math.Clamp((total >> 20) / 5, 32, int.MaxValue),
    });
});
builder.Services.AddHostedService<ThumbnailWorker>();

// For an exec probe: the file has the state, and is as old as the last check.
builder.Services.AddHealthChecks().AddCheck<MemoryHealthCheck>("memory");
builder.Services.AddSingleton<IHealthCheckPublisher, HealthFile>();
builder.Services.Configure<HealthCheckPublisherOptions>(
    static options => (options.Delay, options.Period) = (TimeSpan.Zero, TimeSpan.FromSeconds(5)));
await builder.Build().RunAsync();
