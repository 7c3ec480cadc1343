using System.Globalization;
using Allocator.Tests.Limits;
using Measuring.Cgroups;
using Xunit.Abstractions;

namespace Allocator.SkiaSharp.Tests;

/// <summary>
/// Photographs in a container of 350 MiB, many at once: decoded, turned, made smaller, encoded. With a reservation each the process lives,
/// and all are done. <c>ALLOCATOR_CONTAINER_RUNS=20</c> repeats each, as <c>.ci/nightly</c> does. The photographs are six of Debian's
/// plasma-workspace-wallpapers, some of them progressive, where that is installed, and drawn ones otherwise.
/// </summary>
public class ContainerTests(ITestOutputHelper output)
{
    private const long Limit = 350L << 20;
    private const int BudgetMegabytes = 170;

    [SkippableTheory]
    [InlineData(4)]
    [InlineData(16)]
    [InlineData(64)]
    public void DecodeBitmapAsync_ManyAtOnceInASmallContainer_AllAreDoneWellBelowTheLimit(int atOnce)
    {
        string? wanted = Environment.GetEnvironmentVariable("ALLOCATOR_CONTAINER_RUNS");
        Skip.If(wanted is null && atOnce > 16, "Half a minute: ALLOCATOR_CONTAINER_RUNS=1 runs it.");
        int runs = int.Parse(wanted ?? "1", CultureInfo.InvariantCulture);
        for (int run = 0; run < runs; run++)
        {
            Outcome outcome = Run(atOnce, reserves: true);

            Assert.Equal((0, atOnce, 0), (outcome.Kills, outcome.Done, outcome.HeldAndWaited));
            Assert.InRange(outcome.Peak, 1, Limit * 9 / 10);
        }
    }

    /// <summary>The control: without reservations jobs that hold a part wait for the next, or are refused it.</summary>
    [SkippableFact]
    public void DecodeBitmap_ManyAtOnceWithoutReservations_HoldsAndWaits()
    {
        Outcome outcome = Run(16, reserves: false);

        Assert.Equal(0, outcome.Kills);
        Assert.True(outcome.HeldAndWaited > 0, $"{outcome}");
    }

    private Outcome Run(int atOnce, bool reserves)
    {
        using MemoryCgroup group = TestCgroup.CreateOrSkip(Limit);
        string folder = Directory.CreateTempSubdirectory("ContainerTests-").FullName;
        try
        {
            List<string> pictures = Pictures(folder);
            string report = Path.Combine(folder, "report");
            RemoteInvokeOptions options = new() { TimeOut = 300_000, CheckExitCode = false };
            RemoteExecutor.Invoke(
                RunInside, string.Join('|', [group.Folder, report, $"{atOnce}", $"{reserves}", .. pictures]), options).Dispose();
            int[] figures = File.Exists(report)
                ? [.. File.ReadAllText(report).Split(' ').Select(figure => int.Parse(figure, CultureInfo.InvariantCulture))] : [0, 0, 0];
            Outcome outcome = new(group.Kills, figures[0], figures[1], group.PeakBytes ?? 1);
            output.WriteLine($"{atOnce} at once, {(reserves ? "reserved" : "not reserved")}: {outcome}, {figures[2]} ms");
            return outcome;
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private static async Task RunInside(string choice)
    {
        string[] parts = choice.Split('|');
        TestCgroup.Enter(parts[0]);
        bool reserves = bool.Parse(parts[3]);
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MemoryBudgetMegabytes = BudgetMegabytes,
            BudgetTimeout = reserves ? TimeSpan.FromMinutes(4) : TimeSpan.FromSeconds(5),
        });
        int done = 0;
        int heldAndWaited = 0;
        long started = System.Diagnostics.Stopwatch.GetTimestamp();
        Task[] jobs = [.. Enumerable.Range(0, int.Parse(parts[2], CultureInfo.InvariantCulture)).Select(i => Task.Factory.StartNew(
            async () =>
            {
                try
                {
                    string picture = parts[4 + (i % (parts.Length - 4))];
                    await RunJob(allocator, picture, reserves, () => Interlocked.Increment(ref heldAndWaited));
                    Interlocked.Increment(ref done);
                }
                catch (MemoryLimitExceededException)
                {
                    Interlocked.Increment(ref heldAndWaited);
                }
            },
            reserves ? TaskCreationOptions.None : TaskCreationOptions.LongRunning).Unwrap())];
        await Task.WhenAll(jobs);
        int milliseconds = (int)System.Diagnostics.Stopwatch.GetElapsedTime(started).TotalMilliseconds;
        await File.WriteAllTextAsync(parts[1], FormattableString.Invariant($"{done} {heldAndWaited} {milliseconds}"));
    }

    private static async Task RunJob(MemoryAllocator allocator, string path, bool reserves, Action waited)
    {
        await using FileStream file = File.OpenRead(path);

        // The target, its encoder, and the mipmaps of the source.
        SKBitmapDecodeOptions options = new() { WorkingBytes = 28_000_000 };
        long before = allocator.GetStatistics().BudgetWaits;
        using PooledBitmap picture = reserves ? await allocator.DecodeBitmapAsync(file, options) : allocator.DecodeBitmap(file, options);
        using PooledBitmap small = picture.Allocator.ResizeBitmap(
            picture, new SKSizeI(picture.Width / 4, picture.Height / 4), new SKSamplingOptions(SKFilterMode.Linear, SKMipmapMode.Nearest));
        using PooledMemoryStream encoded = picture.Allocator.CreateStream();
        small.Encode(encoded, SKEncodedImageFormat.Jpeg, 85);
        if (reserves ? ((MemoryReservation)picture.Allocator).OverflowCount > 0 : allocator.GetStatistics().BudgetWaits > before)
        {
            waited();
        }
    }

    private static List<string> Pictures(string folder)
    {
        List<string> pictures = [];
        if (Directory.Exists("/usr/share/wallpapers"))
        {
            pictures.AddRange(Directory.EnumerateFiles("/usr/share/wallpapers", "5120x2880.jpg", SearchOption.AllDirectories).Take(5));
        }

        // Turned, so that it is decoded row by row.
        string drawn = Path.Combine(folder, "turned.jpg");
        File.WriteAllBytes(drawn, Picture.Oriented(
            Picture.Encode(SKEncodedImageFormat.Jpeg, 90, SKAlphaType.Opaque, width: 4000, height: 3000), SKEncodedOrigin.RightTop));
        pictures.Add(drawn);
        return pictures;
    }

    private sealed record Outcome(int Kills, int Done, int HeldAndWaited, long Peak);
}
