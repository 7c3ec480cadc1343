using Allocator;
using Allocator.AspNetCore.Admission;

namespace Microsoft.AspNetCore.Builder;

/// <summary>Makes endpoints run only if there is memory for them.</summary>
public static class MemoryAllocatorEndpointConventionBuilderExtensions
{
    /// <summary>
    /// Reserves memory of the application's <see cref="MemoryAllocator"/> for each request before the endpoint runs, and disposes the
    /// reservation when it has run. Requests wait asynchronously for their turn.
    /// </summary>
    /// <typeparam name="TBuilder">The kind of endpoints: minimal APIs, groups, controllers, request delegates.</typeparam>
    /// <param name="builder">The endpoints.</param>
    /// <param name="bytes">
    /// Estimates how many bytes a request takes: see <see cref="MemoryAllocator.EstimatePixelBytes"/>. It can read the body, which is
    /// rewound afterwards. If it throws <see cref="InvalidDataException"/>, the response is 422.
    /// </param>
    /// <param name="timeout">
    /// How long a request waits: zero to refuse at once, <see cref="Timeout.InfiniteTimeSpan"/> to wait until its client leaves,
    /// <see langword="null"/> for 30 seconds. One that runs once more, because it was refused memory, may wait as long again.
    /// </param>
    /// <returns>The same endpoints.</returns>
    /// <remarks>
    /// <para>
    /// An estimate of 0 lets the request in at once, a negative one is an error of the application (500).
    /// </para>
    /// <para>
    /// The body is received first, so that slow clients reserve nothing: up to 64 KB in memory (16 MiB for all requests), a longer one in a
    /// temporary file. If neither has room, the response is 503. The server's limits on the body apply. The endpoint then reads it from
    /// there.
    /// </para>
    /// <para>
    /// If there is no room in time, the response is 503 with <c>Retry-After</c>. If the request would never fit, it is 413. The same holds
    /// if the endpoint itself throws <see cref="MemoryLimitExceededException"/> before its response has started. Both have problem
    /// details.
    /// </para>
    /// <para>
    /// It runs after all middleware and before model binding, filters and the handler. If both a group and its endpoint call it, the last
    /// call counts.
    /// </para>
    /// <para>
    /// While the endpoint runs, allocations of its flow of execution from the application's allocator also belong to the reservation, as
    /// after <see cref="MemoryReservation.Use"/>: even those of a library that takes no allocator.
    /// </para>
    /// <para>
    /// The allocator needs a limit. It has one unless <see cref="MemoryAllocatorOptions.MinimumFreeMegabytes"/> is 0 and there is no
    /// budget. Without a limit nothing would wait, so the application does not start. Nor does it start if this is called on Razor pages or
    /// dynamic routes, where it would have no effect.
    /// </para>
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="timeout"/> is negative and not <see cref="Timeout.InfiniteTimeSpan"/>.
    /// </exception>
    public static TBuilder RequireMemory<TBuilder>(
        this TBuilder builder, Func<HttpContext, ValueTask<long>> bytes, TimeSpan? timeout = null)
        where TBuilder : IEndpointConventionBuilder
    {
        ArgumentNullException.ThrowIfNull(bytes);
        return Require(builder, Options.DefaultName, RequirementKind.Bytes, bytes, timeout);
    }

    /// <summary>
    /// Reserves for each request as much as earlier requests of its endpoint have needed, as
    /// <see cref="MemoryAllocator.ReserveAsync(string, TimeSpan, CancellationToken)"/> learns it: no estimate is needed.
    /// </summary>
    /// <typeparam name="TBuilder">The kind of endpoints.</typeparam>
    /// <param name="builder">The endpoints. Each learns by itself.</param>
    /// <param name="timeout">How long a request waits; <see langword="null"/> for 30 seconds.</param>
    /// <returns>The same endpoints.</returns>
    /// <remarks>
    /// Works like the overload with an estimate. The endpoint's allocations from the application's allocator belong to its reservation,
    /// whatever code makes them, so all of them count and are learned. If the body is a picture, or a form with one, its
    /// <see cref="PictureHeader.ExpectedBytes"/> are the size of the job, so large and small pictures learn apart. Requests whose pictures
    /// come from elsewhere, a path or a URL, need <c>RequireMemoryBySize</c> for that.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="timeout"/> is negative and not <see cref="Timeout.InfiniteTimeSpan"/>.
    /// </exception>
    public static TBuilder RequireMemory<TBuilder>(this TBuilder builder, TimeSpan? timeout = null)
        where TBuilder : IEndpointConventionBuilder =>
        Require(builder, Options.DefaultName, RequirementKind.Learned, measure: null, timeout);

    /// <summary>As the overload without an estimate, for an allocator that was added under a name.</summary>
    /// <typeparam name="TBuilder">The kind of endpoints.</typeparam>
    /// <param name="builder">The endpoints. Each learns by itself.</param>
    /// <param name="allocatorName">The name that the allocator was added with.</param>
    /// <param name="timeout">How long a request waits; <see langword="null"/> for 30 seconds.</param>
    /// <returns>The same endpoints.</returns>
    /// <exception cref="ArgumentException"><paramref name="allocatorName"/> is empty.</exception>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="timeout"/> is negative and not <see cref="Timeout.InfiniteTimeSpan"/>.
    /// </exception>
    public static TBuilder RequireMemory<TBuilder>(this TBuilder builder, string allocatorName, TimeSpan? timeout = null)
        where TBuilder : IEndpointConventionBuilder
    {
        ArgumentException.ThrowIfNullOrEmpty(allocatorName);
        return Require(builder, allocatorName, RequirementKind.Learned, measure: null, timeout);
    }

    /// <summary>
    /// Reserves for each request as much as earlier requests of its endpoint and of about its size have needed, as
    /// <see cref="MemoryAllocator.ReserveAsync(string, long, TimeSpan, CancellationToken)"/> learns it.
    /// </summary>
    /// <typeparam name="TBuilder">The kind of endpoints.</typeparam>
    /// <param name="builder">The endpoints. Each learns by itself.</param>
    /// <param name="size">
    /// Returns a number that the need of a request grows with, at least 1: the pixels of the picture in its body, or the bytes of a file.
    /// It can read the body, which is rewound afterwards. If it throws <see cref="InvalidDataException"/>, the response is 422.
    /// </param>
    /// <param name="timeout">How long a request waits; <see langword="null"/> for 30 seconds.</param>
    /// <returns>The same endpoints.</returns>
    /// <remarks>For endpoints that get large and small pictures: small ones do not wait as if they were large.</remarks>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="timeout"/> is negative and not <see cref="Timeout.InfiniteTimeSpan"/>.
    /// </exception>
    public static TBuilder RequireMemoryBySize<TBuilder>(
        this TBuilder builder, Func<HttpContext, ValueTask<long>> size, TimeSpan? timeout = null)
        where TBuilder : IEndpointConventionBuilder
    {
        ArgumentNullException.ThrowIfNull(size);
        return Require(builder, Options.DefaultName, RequirementKind.LearnedBySize, size, timeout);
    }

    /// <summary>As the overload without a name, for an allocator that was added under a name.</summary>
    /// <typeparam name="TBuilder">The kind of endpoints.</typeparam>
    /// <param name="builder">The endpoints.</param>
    /// <param name="allocatorName">The name that the allocator was added with.</param>
    /// <param name="size">Returns a number that the need of a request grows with, at least 1.</param>
    /// <param name="timeout">How long a request waits; <see langword="null"/> for 30 seconds.</param>
    /// <returns>The same endpoints.</returns>
    /// <exception cref="ArgumentException"><paramref name="allocatorName"/> is empty.</exception>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="timeout"/> is negative and not <see cref="Timeout.InfiniteTimeSpan"/>.
    /// </exception>
    public static TBuilder RequireMemoryBySize<TBuilder>(
        this TBuilder builder, string allocatorName, Func<HttpContext, ValueTask<long>> size, TimeSpan? timeout = null)
        where TBuilder : IEndpointConventionBuilder
    {
        ArgumentException.ThrowIfNullOrEmpty(allocatorName);
        ArgumentNullException.ThrowIfNull(size);
        return Require(builder, allocatorName, RequirementKind.LearnedBySize, size, timeout);
    }

    /// <summary>As the overload with an estimate, for an allocator that was added under a name.</summary>
    /// <typeparam name="TBuilder">The kind of endpoints.</typeparam>
    /// <param name="builder">The endpoints.</param>
    /// <param name="allocatorName">The name that the allocator was added with.</param>
    /// <param name="bytes">Estimates how many bytes a request takes.</param>
    /// <param name="timeout">How long a request waits; <see langword="null"/> for 30 seconds.</param>
    /// <returns>The same endpoints.</returns>
    /// <exception cref="ArgumentException"><paramref name="allocatorName"/> is empty.</exception>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="timeout"/> is negative and not <see cref="Timeout.InfiniteTimeSpan"/>.
    /// </exception>
    public static TBuilder RequireMemory<TBuilder>(
        this TBuilder builder, string allocatorName, Func<HttpContext, ValueTask<long>> bytes, TimeSpan? timeout = null)
        where TBuilder : IEndpointConventionBuilder
    {
        ArgumentException.ThrowIfNullOrEmpty(allocatorName);
        ArgumentNullException.ThrowIfNull(bytes);
        return Require(builder, allocatorName, RequirementKind.Bytes, bytes, timeout);
    }

    /// <summary>
    /// Lets a request that was refused memory while it ran run once more before it is answered with 503, whatever its method is. GET and
    /// HEAD need no permission.
    /// </summary>
    /// <typeparam name="TBuilder">The kind of endpoints.</typeparam>
    /// <param name="builder">The endpoints, which <c>RequireMemory</c> or <c>RequireMemoryBySize</c> is called on.</param>
    /// <returns>The same endpoints.</returns>
    /// <remarks>
    /// For endpoints that change nothing before they have the memory, such as uploads that are only converted. The second run gets the
    /// body from its beginning; features, items, headers and route values are as before. Scoped services are the same, with what the first
    /// run has left in them. There is none once anything was written to the response.
    /// </remarks>
    public static TBuilder AllowMemoryRetry<TBuilder>(this TBuilder builder)
        where TBuilder : IEndpointConventionBuilder
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Add(static endpoint => endpoint.Metadata.Add(RunState.Retry.Instance));
        return builder;
    }

    private static TBuilder Require<TBuilder>(
        TBuilder builder, string allocatorName, RequirementKind kind, Func<HttpContext, ValueTask<long>>? measure, TimeSpan? timeout)
        where TBuilder : IEndpointConventionBuilder
    {
        ArgumentNullException.ThrowIfNull(builder);
        if (timeout < TimeSpan.Zero && timeout != Timeout.InfiniteTimeSpan)
        {
            throw new ArgumentOutOfRangeException(
                nameof(timeout), timeout, $"timeout is {timeout}; it must be zero or more, or Timeout.InfiniteTimeSpan.");
        }

        MemoryRequirement requirement = new(allocatorName, kind, measure, timeout ?? MemoryRequirement.DefaultTimeout);
        builder.Add(endpoint => MemoryAdmission.Require(endpoint, requirement));
        return builder;
    }
}
