using System.Collections.Concurrent;
using System.ComponentModel;
using System.Net.Http.Json;

namespace ThumbnailService.Trials;

/// <summary>The service, in a process and a memory cgroup of its own, without any environment variable that concerns memory.</summary>
internal sealed class ServiceProcess : IDisposable
{
    private readonly Process _process;
    private readonly ConcurrentQueue<string> _errors = new();

    private ServiceProcess(Process process, Uri address)
    {
        _process = process;
        _process.ErrorDataReceived += (_, line) => _errors.Enqueue(line.Data ?? "");
        _process.BeginErrorReadLine();
        Address = address;
    }

    public Uri Address { get; }

    /// <summary>Gets the processor time that it has used; what it had used when it was killed is not told.</summary>
    public TimeSpan ProcessorTime
    {
        get
        {
            try
            {
                _process.Refresh();
                return _process.HasExited ? TimeSpan.Zero : _process.TotalProcessorTime;
            }
            catch (Win32Exception)
            {
                // It is being killed.
                return TimeSpan.Zero;
            }
        }
    }

    public string Errors => string.Join('\n', _errors).Trim();

    /// <summary>Starts it in <paramref name="group"/>, and waits until it listens.</summary>
    public static async Task<ServiceProcess> StartAsync(MemoryCgroup group, params string[] arguments)
    {
        ProcessStartInfo start = ChildProgram.Describe(typeof(ServiceProcess).Assembly.Location, arguments);
        ChildProgram.ForgetMemorySettings(start);
        group.Wrap(start);
        Process process = ChildProgram.Start(start);
        string? line = await process.StandardOutput.ReadLineAsync();
        if (line?.StartsWith(ServeCommand.Announcement, StringComparison.Ordinal) == true)
        {
            return new ServiceProcess(process, new Uri(line[ServeCommand.Announcement.Length..]));
        }

        string errors = await process.StandardError.ReadToEndAsync();
        process.Dispose();
        throw new ChildFailedException($"The service did not start: {line} {errors}");
    }

    /// <summary>Asks it for the samples of its memory; null where it does not answer.</summary>
    public async Task<IReadOnlyList<HistorySample>?> ReadHistoryAsync()
    {
        using HttpClient client = new(new SocketsHttpHandler { UseProxy = false });
        try
        {
            return await client.GetFromJsonAsync(
                new Uri(Address, ThumbnailServer.SamplesPath), HistoryJson.Default.IReadOnlyListHistorySample);
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
