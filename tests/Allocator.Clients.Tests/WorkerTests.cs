using System.Diagnostics;
using Allocator.Tests;
using Allocator.Tests.Limits;
using Measuring.Cgroups;

namespace Allocator.Clients.Tests;

/// <summary>The worker service of <c>docs/integrations/code/worker</c>, in a container whose kernel kills.</summary>
public class WorkerTests
{
    private const long Limit = 350L << 20;

    // Of 2, 8 and 15 megapixels: all at once need more than 2 GB.
    private static readonly string[] s_sizes = ["1600x1200", "3840x2160", "5120x2880"];

    // The last number is the mean of the pixels.
    private static readonly string[] s_thumbnails = ["200 x 150, 123", "202 x 113, 127", "204 x 115, 127"];

    [SkippableFact]
    public async Task Worker_With64JobsIn350Megabytes_DoesAllAndWritesItsHealth()
    {
        (int exitCode, string log, string health) = await RunAsync(Enumerable.Range(0, 64).Select(i => s_sizes[i % s_sizes.Length]));

        Assert.Equal(0, exitCode);
        Assert.Equal(64, s_thumbnails.Sum(thumbnail => log.Split(thumbnail).Length - 1));
        Assert.Contains("No job is left", log, StringComparison.Ordinal);
        Assert.Contains("of 350 MiB (ControlGroup) are used", health, StringComparison.Ordinal);
    }

    [SkippableFact]
    public async Task Worker_SomeJobsFail_DoesTheOthersAndReportsThem()
    {
        (int exitCode, string log, _) = await RunAsync(["1600x1200", "20000x20000", "x", "0x0", "many", "1600x1200"]);

        Assert.Equal(1, exitCode);
        Assert.Equal(2, log.Split("200 x 150").Length - 1);
        Assert.All(
            ["20000x20000", "x", "0x0", "many"],
            job => Assert.Contains(job + " has failed", log, StringComparison.Ordinal));
        Assert.Contains("No job is left", log, StringComparison.Ordinal);
    }

    private static async Task<(int ExitCode, string Log, string Health)> RunAsync(IEnumerable<string> jobs)
    {
        using MemoryCgroup group = TestCgroup.CreateOrSkip(Limit);
        string health = Path.GetTempFileName();
        try
        {
            string configuration = new DirectoryInfo(AppContext.BaseDirectory).Name;
            string program = Repository.PathTo("artifacts", "bin", "Worker", configuration, "Worker.dll");
            ProcessStartInfo start = new("dotnet", [program, $"--HealthFile={health}"])
            {
                RedirectStandardInput = true,
                RedirectStandardOutput = true,
            };
            group.Wrap(start);
            using Process process = Process.Start(start)!;
            Task<string> log = process.StandardOutput.ReadToEndAsync();
            await process.StandardInput.WriteAsync(string.Join('\n', jobs));
            process.StandardInput.Close();
            await process.WaitForExitAsync().WaitAsync(TimeSpan.FromMinutes(2));
            Assert.Equal(0, group.Kills);
            return (process.ExitCode, await log, await File.ReadAllTextAsync(health));
        }
        finally
        {
            File.Delete(health);
        }
    }
}
