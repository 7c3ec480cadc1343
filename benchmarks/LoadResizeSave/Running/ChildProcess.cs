using System.Text.Json;

namespace LoadResizeSave.Running;

/// <summary>Starts this program again, so that each allocator has a process, and with it a peak, of its own.</summary>
internal static class ChildProcess
{
    /// <exception cref="ChildFailedException">It ended without a result; the message is what it wrote about that.</exception>
    public static async Task<MeasuredRun> RunAsync(
        IEnumerable<string> arguments, Action<ChildMessage> onMessage, CancellationToken cancellationToken, Action<ProcessStartInfo>? prepare = null)
    {
        using Process child = Start(arguments, prepare);
        await using CancellationTokenRegistration registration = cancellationToken.Register(() => child.Kill(entireProcessTree: true));
        Task<string> errors = child.StandardError.ReadToEndAsync(CancellationToken.None);
        MeasuredRun? result = null;
        string? unexpected = null;
        while (await child.StandardOutput.ReadLineAsync(CancellationToken.None) is { } line)
        {
            try
            {
                ChildMessage message = JsonSerializer.Deserialize(line, JobJson.Default.ChildMessage)!;
                result ??= message.Result;
                onMessage(message);
            }
            catch (JsonException)
            {
                unexpected ??= line;
            }
        }

        await child.WaitForExitAsync(CancellationToken.None);
        cancellationToken.ThrowIfCancellationRequested();
        return child.ExitCode == 0 && result is not null
            ? result
            : throw new ChildFailedException($"exit code {child.ExitCode}. {unexpected} {await errors}".Trim());
    }

    private static Process Start(IEnumerable<string> arguments, Action<ProcessStartInfo>? prepare)
    {
        string program = Environment.ProcessPath ?? throw new InvalidOperationException("The system does not tell this program's path.");
        ProcessStartInfo start = new(program) { RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true };

        // Started as "dotnet LoadResizeSave.dll", the process is the host, and wants to be told what to run.
        if (Path.GetFileNameWithoutExtension(program).Equals("dotnet", StringComparison.OrdinalIgnoreCase))
        {
            start.ArgumentList.Add(typeof(ChildProcess).Assembly.Location);
        }

        foreach (string argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        prepare?.Invoke(start);
        return Process.Start(start) ?? throw new InvalidOperationException($"{program} could not be started.");
    }
}
