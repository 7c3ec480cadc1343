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

    private static async IAsyncEnumerable<string> ReadJobsAsync([EnumeratorCancellation] CancellationToken stoppingToken)
    {
        using StreamReader input = new(Console.OpenStandardInput());
        while (await input.ReadLineAsync(stoppingToken).AsTask().WaitAsync(stoppingToken) is { } line)
        {
            yield return line;
        }
    }

    // A job is as "1600x1200". Whatever happens to one, the others go on.
    private async ValueTask RunAsync(string job, CancellationToken stoppingToken)
    {
        for (int attempt = 1; ; attempt++)
        {
            try
            {
                int[] sizes = [.. job.Split('x').Select(static size => int.Parse(size, CultureInfo.InvariantCulture))];
                long began = Stopwatch.GetTimestamp();

                // As much as jobs of this name and size have needed. What they allocate below belongs to it.
                long pixels = (long)sizes[0] * sizes[1];
                using MemoryReservation memory = await allocator.ReserveAsync("thumbnail", pixels, s_patience, stoppingToken);
                TimeSpan waited = Stopwatch.GetElapsedTime(began);
                using MemoryReservation.UseScope use = memory.Use();
                string thumbnail = Thumbnails.Make(allocator, sizes[0], sizes[1]);
                Done(logger, job, thumbnail, waited.TotalMilliseconds, memory.PeakUsedBytes >> 20);
                return;
            }
            catch (Exception exception) when (IsTransient(exception) && attempt < Attempts)
            {
                TryAgain(logger, job, exception.Message);
            }
            catch (Exception exception) when (!stoppingToken.IsCancellationRequested)
            {
                // It never fits, or not today, or is no job: for the queue of failed jobs.
                Environment.ExitCode = 1;
                Failed(logger, job, exception);
                return;
            }
        }
    }

    private static bool IsTransient(Exception exception) =>
        exception is MemoryLimitExceededException { IsTransient: true } or OutOfMemoryException;

    [LoggerMessage(1, LogLevel.Information, "{Job}: {Thumbnail}, after {Waited:0} ms, with {Megabytes} MiB")]
    private static partial void Done(ILogger logger, string job, string thumbnail, double waited, long megabytes);

    [LoggerMessage(2, LogLevel.Warning, "{Job} is tried again: {Reason}")]
    private static partial void TryAgain(ILogger logger, string job, string reason);

    [LoggerMessage(3, LogLevel.Error, "{Job} has failed")]
    private static partial void Failed(ILogger logger, string job, Exception exception);

    [LoggerMessage(4, LogLevel.Information, "No job is left. The container holds {Megabytes} MiB; {Statistics}")]
    private static partial void Figures(ILogger logger, MemoryAllocatorStatistics statistics, long megabytes);
}
