using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using Allocator;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Worker;

/// <summary>Takes jobs from the queue, here the standard input, and ends the host when there are no more.</summary>
internal sealed partial class ThumbnailWorker(
    MemoryAllocator allocator, IHostApplicationLifetime lifetime, ILogger<ThumbnailWorker> logger) : BackgroundService
{
    // Far more than fit: memory decides how many of them run. The rest stays in the queue.
    private const int JobsInHand = 64;

    private const int Attempts = 3;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        ParallelOptions options = new() { MaxDegreeOfParallelism = JobsInHand, CancellationToken = stoppingToken };
        await Parallel.ForEachAsync(ReadJobsAsync(stoppingToken), options, RunAsync);
        Figures(logger, allocator.GetStatistics(), allocator.GetMemoryLoad().UsedBytes >> 20);
        lifetime.StopApplication();
    }

    private static async IAsyncEnumerable<(int Width, int Height)> ReadJobsAsync([EnumeratorCancellation] CancellationToken stoppingToken)
    {
        using StreamReader input = new(Console.OpenStandardInput());
        while (await input.ReadLineAsync(stoppingToken).AsTask().WaitAsync(stoppingToken) is { } line)
        {
            int[] sizes = [.. line.Split('x').Select(static size => int.Parse(size, CultureInfo.InvariantCulture))];
            yield return (sizes[0], sizes[1]);
        }
    }

    private async ValueTask RunAsync((int Width, int Height) job, CancellationToken stoppingToken)
    {
        for (int attempt = 1; ; attempt++)
        {
            try
            {
                long began = Stopwatch.GetTimestamp();

                // As much as jobs of this name have needed. What they allocate below belongs to it.
                using MemoryReservation memory = await allocator.ReserveAsync("thumbnail", s_patience, stoppingToken);
                TimeSpan waited = Stopwatch.GetElapsedTime(began);
                using MemoryReservation.UseScope use = memory.Use();
                string thumbnail = Thumbnails.Make(allocator, job.Width, job.Height);
                Done(logger, job.Width, job.Height, thumbnail, waited.TotalMilliseconds, memory.PeakUsedBytes >> 20);
                return;
            }
            catch (MemoryLimitExceededException exception) when (exception.IsTransient && attempt < Attempts)
            {
                TryAgain(logger, job.Width, job.Height, exception.Message);
            }
            catch (MemoryLimitExceededException exception)
            {
                // It never fits, or not today: for the queue of failed jobs.
                Environment.ExitCode = 1;
                Failed(logger, job.Width, job.Height, exception);
                return;
            }
        }
    }

    [LoggerMessage(1, LogLevel.Information, "{Width} x {Height}: {Thumbnail}, after {Waited:0} ms, with {Megabytes} MiB")]
    private static partial void Done(ILogger logger, int width, int height, string thumbnail, double waited, long megabytes);

    [LoggerMessage(2, LogLevel.Warning, "{Width} x {Height} is tried again: {Reason}")]
    private static partial void TryAgain(ILogger logger, int width, int height, string reason);

    [LoggerMessage(3, LogLevel.Error, "{Width} x {Height} has failed")]
    private static partial void Failed(ILogger logger, int width, int height, Exception exception);

    [LoggerMessage(4, LogLevel.Information, "No job is left. The container holds {Megabytes} MiB; {Statistics}")]
    private static partial void Figures(ILogger logger, MemoryAllocatorStatistics statistics, long megabytes);
}
