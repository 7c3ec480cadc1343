using System.Collections.Concurrent;
using System.Net.Http.Json;

namespace ThumbnailService.Trials;

/// <summary>The service, in a process of its own and where that can be in a cgroup of its own.</summary>
internal sealed class ServiceProcess : IDisposable
{
    private readonly Process _process;
    private readonly ConcurrentQueue<string> _errors = new();

    private ServiceProcess(Process process, Uri address, MemoryCgroup? group)
    {
        _process = process;
        _process.ErrorDataReceived += (_, line) => _errors.Enqueue(line.Data ?? "");
        _process.BeginErrorReadLine();
        Address = address;
        Group = group;
    }

    public Uri Address { get; }

    public MemoryCgroup? Group { get; }

    public int Id => _process.Id;

    public string Errors => string.Join('\n', _errors).Trim();

    /// <summary>
    /// Starts it as <paramref name="trial"/> asks, in <paramref name="group"/> if there is one, and waits until it listens.
    /// </summary>
    public static async Task<ServiceProcess> StartAsync(ServiceTrial trial, MemoryCgroup? group)
    {
        ProcessStartInfo start = ChildProgram.Describe(
            ChildProgram.ThisProgram, ServeCommand.ChildArguments(trial.Allocator, trial.BudgetMegabytes));
        ProcessBase.Prepare(start, hasBudget: trial.BudgetMegabytes is not null);
        group?.Wrap(start);
        Process process = ChildProgram.Start(start);
        string? line = await process.StandardOutput.ReadLineAsync();
        if (line?.StartsWith(ServeCommand.Announcement, StringComparison.Ordinal) == true)
        {
            return new ServiceProcess(process, new Uri(line[ServeCommand.Announcement.Length..]), group);
        }

        string errors = await process.StandardError.ReadToEndAsync();
        process.Dispose();
        throw new ChildFailedException($"The service did not start: {line} {errors}");
    }

    /// <summary>Asks it for its allocator's counters; null where it does not answer.</summary>
    public async Task<MemoryAllocatorStatistics?> ReadStatisticsAsync()
    {
        using HttpClient client = new(new SocketsHttpHandler { UseProxy = false });
        try
        {
            return await client.GetFromJsonAsync<MemoryAllocatorStatistics>(new Uri(Address, "/statistics"));
        }
        catch (HttpRequestException)
        {
            return null;
        }
    }

    public void Dispose()
    {
        // Its input ends, and with it the process.
        _process.StandardInput.Close();
        _process.WaitForExit();
        _process.Dispose();
    }
}
