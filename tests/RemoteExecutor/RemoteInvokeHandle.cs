using System.Diagnostics;
using System.Text;

namespace Microsoft.DotNet.RemoteExecutor;

/// <summary>A running child. Disposing it waits for the end and throws if that was not the one expected.</summary>
public sealed class RemoteInvokeHandle : IDisposable
{
    private const int ErrorTailInCharacters = 8_000;
    private const int Turns = 3;

    // Of one processor.
    private const double LeastUse = 0.01;

    private readonly string _createdBy = Environment.StackTrace;
    private readonly StringBuilder _errors = new();
    private readonly ManualResetEventSlim _errorsEnded = new();
    private bool _disposed;
    private int? _exitCode;

    internal RemoteInvokeHandle(ProcessStartInfo start, RemoteInvokeOptions options)
    {
        Options = options;

        // What a dying runtime says stands in its standard error only; keep the end of it for the message,
        // unless the test reads the stream itself.
        bool listen = !start.RedirectStandardError;
        start.RedirectStandardError = true;
        Process = new Process { StartInfo = start };
        Process.ErrorDataReceived += OnErrorLine;
        Process.Start();
        if (listen)
        {
            Process.BeginErrorReadLine();
        }
        else
        {
            _errorsEnded.Set();
        }
    }

    // A test that forgets to dispose would pass whatever its child did.
    ~RemoteInvokeHandle() =>
        throw new InvalidOperationException($"A RemoteInvokeHandle was not disposed. It was created by:\n{_createdBy}");

    /// <summary>The child.</summary>
    public Process Process { get; }

    /// <summary>What it was started with.</summary>
    public RemoteInvokeOptions Options { get; }

    /// <summary>The exit code. Waits for the end of the process.</summary>
    public int ExitCode
    {
        get
        {
            if (_exitCode is null)
            {
                Process.WaitForExit();
                _exitCode = Process.ExitCode;
            }

            return _exitCode.Value;
        }
    }

    /// <summary>Waits for the child, at most three times <see cref="RemoteInvokeOptions.TimeOut"/>.</summary>
    /// <exception cref="RemoteExecutionException">
    /// The child threw, ended with an unexpected exit code, or was killed for its time.
    /// </exception>
    public void Dispose()
    {
        if (_disposed)
        {
            return;
        }

        GC.SuppressFinalize(this);
        try
        {
            string? failure = WaitForFailure();
            if (failure is not null)
            {
                throw new RemoteExecutionException(failure + ErrorTail());
            }
        }
        finally
        {
            _disposed = true;
            Process.Dispose();
            TryDeleteFiles();
        }
    }

    private string? WaitForFailure()
    {
        if (!HasEnded())
        {
            Process.Kill(entireProcessTree: true);
            _ = ExitCode;
            return $"The remote process {Process.Id} did not end within {Options.TimeOut} ms and was killed.";
        }

        int exitCode = ExitCode;
        if (File.Exists(Options.ExceptionFile) && File.ReadAllText(Options.ExceptionFile) is { Length: > 0 } exception)
        {
            return $"The remote process {Process.Id} threw (exit code {exitCode}):\n{exception}";
        }

        // Unix keeps eight bits of it.
        int kept = OperatingSystem.IsWindows() ? -1 : 0xFF;
        return Options.CheckExitCode && (exitCode & kept) != (Options.ExpectedExitCode & kept)
            ? $"The remote process {Process.Id} ended with exit code {exitCode}, expected {Options.ExpectedExitCode}."
            : null;
    }

    // On a busy machine a child is slow. It gets the same time twice more while it still runs: a deadlock uses no processor.
    private bool HasEnded()
    {
        TimeSpan used = default;
        for (int i = 0; i < Turns; i++)
        {
            if (Process.WaitForExit(Options.TimeOut))
            {
                return true;
            }

            TimeSpan now = ReadProcessorTime();
            if (i > 0 && (now - used).TotalMilliseconds < Options.TimeOut * LeastUse)
            {
                return false;
            }

            used = now;
        }

        return false;
    }

    private TimeSpan ReadProcessorTime()
    {
        try
        {
            Process.Refresh();
            return Process.TotalProcessorTime;
        }
        catch (InvalidOperationException)
        {
            // It has ended meanwhile.
            return TimeSpan.MaxValue;
        }
    }

    private string ErrorTail()
    {
        // The reader may lag behind the exit; a grandchild may hold the stream open for ever.
        _errorsEnded.Wait(TimeSpan.FromSeconds(30));
        lock (_errors)
        {
            return _errors.Length == 0 ? "" : $"\nStandard error:\n{_errors}";
        }
    }

    private void OnErrorLine(object sender, DataReceivedEventArgs line)
    {
        if (line.Data is null)
        {
            _errorsEnded.Set();
            return;
        }

        lock (_errors)
        {
            _errors.AppendLine(line.Data);
            int surplus = _errors.Length - ErrorTailInCharacters;
            if (surplus > 0)
            {
                _errors.Remove(0, surplus);
            }
        }
    }

    private void TryDeleteFiles()
    {
        try
        {
            File.Delete(Options.ExceptionFile);
            File.Delete(Options.ConfigurationFile);
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            // A killed child's file may still be held; a temporary file that stays is no test failure.
        }
    }
}
