using Allocator.AspNetCore;
using Allocator.AspNetCore.Admission;
using Allocator.AspNetCore.Configuration;
using Allocator.AspNetCore.Health;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers the health check of memory allocators.</summary>
public static class MemoryAllocatorHealthChecksBuilderExtensions
{
    /// <summary>Adds a health check that reports degraded if memory is short, with the figures of the allocator.</summary>
    /// <param name="builder">The health checks of the application.</param>
    /// <param name="name">The name of the check.</param>
    /// <param name="allocatorName">The name that the allocator was added with; <see langword="null"/> for the one without a name.</param>
    /// <param name="configure">Sets the thresholds at which it becomes degraded.</param>
    /// <param name="tags">The tags of the check.</param>
    /// <returns>The same health checks.</returns>
    /// <remarks>
    /// It reads some small files and walks over the pool's blocks, and never waits. Degraded is a warning: by default, health check
    /// endpoints answer it with 200.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">A threshold is below 0 or above 1.</exception>
    public static IHealthChecksBuilder AddMemoryAllocator(
        this IHealthChecksBuilder builder,
        string name = "memory",
        string? allocatorName = null,
        Action<MemoryAllocatorHealthOptions>? configure = null,
        IEnumerable<string>? tags = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        MemoryAllocatorHealthOptions options = new();
        configure?.Invoke(options);
        ThrowIfNotPart(options.DegradedMemoryLoad, nameof(MemoryAllocatorHealthOptions.DegradedMemoryLoad));
        ThrowIfNotPart(options.DegradedBudgetUse, nameof(MemoryAllocatorHealthOptions.DegradedBudgetUse));
        return builder.Add(new HealthCheckRegistration(
            name,
            services => new MemoryAllocatorHealthCheck(
                AllocatorName.FindRequired(services, allocatorName ?? Options.Options.DefaultName),
                services.GetService<RunningAllocators>(),
                services.GetService<AdmissionMeter>(),
                options),
            failureStatus: null,
            tags));
    }

    private static void ThrowIfNotPart(double? value, string name)
    {
        // Written so that NaN fails too.
        if (value is { } part && !(part >= 0 && part <= 1))
        {
            throw new ArgumentOutOfRangeException(name, value, $"{name} is {value}; it must be from 0 to 1.");
        }
    }
}
