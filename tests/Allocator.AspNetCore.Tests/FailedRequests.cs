using System.Reflection;
using Allocator.Tests.Architecture;

namespace Allocator.AspNetCore.Tests;

/// <summary>
/// Requests that wait for memory while one allocation of a library's own fails: the first, the second, and so on, until a request makes
/// no more of them. Run in copies of the libraries in which each allocation is counted.
/// </summary>
internal static class FailedRequests
{
    /// <summary>Prints the largest number of each kind of request. Throws if a request does not end, or anything is lost.</summary>
    public static async Task RunAsync()
    {
        await using Service service = await Service.StartAsync(static app =>
        {
            app.MapPost("/learned", Use).RequireMemory();
            app.MapPost("/estimated", Use).RequireMemory(static _ => new ValueTask<long>(4 << 20));
            app.MapPost("/growing", Use).RequireMemory(static _ => new ValueTask<long>(64 << 10));
        });

        foreach (Type type in new[] { typeof(MemoryAllocator), typeof(MemoryPageExtensions) })
        {
            CountedAllocations.Left left = CountedAllocations.LeftOf(type);
            foreach (string path in new[] { "/learned", "/estimated", "/growing" })
            {
                // Whatever is made once.
                await EndsBeforeAsync(0, path, service, left);
                await EndsBeforeAsync(0, path, service, left);
                int failing = 1;
                while (!await EndsBeforeAsync(failing, path, service, left))
                {
                    failing++;
                }

                Assert.True(failing > 1, "No allocation has failed.");
                Console.WriteLine($"{type.Assembly.GetName().Name}, {path}: {failing - 1} allocations");
            }
        }
    }

    private static async Task<string> Use(HttpContext context, MemoryAllocator allocator)
    {
        using (await allocator.AllocateAsync<byte>(2 << 20))
        {
            using PixelBuffer<int> pixels = context.GetMemoryReservation().AllocatePixels<int>(100, 100);
            return $"{pixels.Width}";
        }
    }

    // Returns whether the request made fewer allocations.
    private static async Task<bool> EndsBeforeAsync(int failing, string path, Service service, CountedAllocations.Left left)
    {
        Assert.True(service.Allocator.TryReserve(Service.Budget, out MemoryReservation? inTheWay));
        Func<int> waiters = WaitersOf(service.Allocator);
        Volatile.Write(ref left(), failing);
        Task<HttpResponseMessage> answering = service.Client.PostAsync(path, new ByteArrayContent(new byte[100]));

        try
        {
            await Patience.UntilAsync(() => answering.IsCompleted || waiters() > 0);
            inTheWay.Dispose();
        }
        catch (OutOfMemoryException) when (failing > 0)
        {
            // The call that freed the memory met the allocation that fails.
            inTheWay.Dispose();
        }

        try
        {
            using HttpResponseMessage response = await answering.WaitAsync(Patience.Limit);
            Assert.True(failing > 0 || response.IsSuccessStatusCode, $"{response}");
            Assert.True(
                response.StatusCode is HttpStatusCode.OK or HttpStatusCode.InternalServerError or HttpStatusCode.ServiceUnavailable,
                $"{response}");
        }
        catch (HttpRequestException) when (failing > 0)
        {
            // The response had begun: the server ends the connection.
        }

        bool isReached = Interlocked.Exchange(ref left(), 0) <= 0;

        // What is lost comes back with a collection, and then counts as abandoned.
        try
        {
            await service.UntilUnusedAsync();
        }
        catch (TimeoutException)
        {
            Assert.Fail($"After allocation {failing} of {path} failed: {service.Allocator.DescribeMemory()}");
        }

        MemoryAllocatorStatistics after = service.Allocator.GetStatistics();
        Assert.True(after.Abandoned == 0, $"After allocation {failing} of {path} failed: {service.Allocator.DescribeMemory()}");
        Assert.True(service.Allocator.TryReserve(Service.Budget, out MemoryReservation? all), $"Allocation {failing} of {path} failed.");
        all.Dispose();
        return failing > 0 && !isReached;
    }

    // The statistics would do too, but are objects of the library: reading them would be among the allocations.
    private static Func<int> WaitersOf(MemoryAllocator allocator)
    {
        const BindingFlags Any = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
        object account = allocator.GetType().GetProperty("Account", Any)!.GetValue(allocator)!;
        object budget = account.GetType().GetProperty("Budget", Any)!.GetValue(account)!;
        return budget.GetType().GetProperty("Waiters", Any)!.GetMethod!.CreateDelegate<Func<int>>(budget);
    }
}
