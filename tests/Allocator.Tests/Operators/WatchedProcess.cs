using System.Collections.Concurrent;
using System.Diagnostics.Tracing;
using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing;

namespace Allocator.Tests.Operators;

/// <summary>A process of its own, watched through its event pipe as <c>dotnet-trace</c> and <c>dotnet-counters</c> do.</summary>
internal sealed class WatchedProcess : IDisposable
{
    /// <summary>The metrics of the library, asked for as <c>dotnet-counters</c> does.</summary>
    public static readonly EventPipeProvider Metrics = new(
        "System.Diagnostics.Metrics",
        EventLevel.Informational,
        0x2,
        new Dictionary<string, string>
        {
            ["SessionId"] = "tests",
            ["Metrics"] = "Allocator",
            ["RefreshInterval"] = "0.1",
            ["MaxTimeSeries"] = "1000",
            ["MaxHistograms"] = "10",
        });

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(50);

    // Of a process that hangs. On a busy machine one starts slowly.
    private static readonly TimeSpan s_start = TimeSpan.FromMinutes(5);

    private readonly RemoteInvokeHandle _process;
    private readonly EventPipeSession _session;
    private readonly BlockingCollection<TraceEvent> _events = [];
    private readonly Task _reader;

    public WatchedProcess(RemoteInvokeHandle process, params EventPipeProvider[] providers)
    {
        _process = process;
        try
        {
            DiagnosticsClient client = new(process.Process.Id);

            // A session that begins while the runtime starts can hang both for ever, in the runtime: futexes, and no managed thread yet.
            string signal = SignalOf(process.Process.Id);
            SpinWait.SpinUntil(() => File.Exists(signal) || process.Process.HasExited, s_start);
            Assert.True(File.Exists(signal), "The process does not wait to be watched.");
            File.Delete(signal);
            EventPipeSession? session = null;
            if (!SpinWait.SpinUntil(() => TryStart(client, providers, out session), s_patience))
            {
                throw new TimeoutException("The process opened no diagnostics port.");
            }

            _session = session!;
            _reader = Task.Run(Read);
        }
        catch
        {
            // A handle that is not disposed would end the test host. If the process has thrown, that says more than this exception.
            process.Options.CheckExitCode = false;
            process.Process.Kill();
            process.Dispose();
            throw;
        }
    }

    /// <summary>Waits, in the process that is watched, until a listener is there.</summary>
    public static void WaitUntilWatched()
    {
        File.Create(SignalOf(Environment.ProcessId)).Dispose();
        if (!SpinWait.SpinUntil(static () => Source?.IsEnabled() == true, s_patience))
        {
            throw new TimeoutException("No listener is there.");
        }
    }

    /// <summary>Does something again and again, in the process that is watched, until no listener is left.</summary>
    public static void RepeatWhileWatched(Action action)
    {
        SpinWait.SpinUntil(
            () =>
            {
                action();
                return Source?.IsEnabled() != true;
            },
            s_patience);
    }

    private static EventSource? Source => EventSource.GetSources().SingleOrDefault(static source => source.Name == "Allocator");

    /// <summary>Takes the next event of that name.</summary>
    public IReadOnlyDictionary<string, object> Take(string name, Func<IReadOnlyDictionary<string, object>, bool>? isWanted = null) =>
        TakeWhere(written => written == name, isWanted);

    /// <summary>Takes the next event of such a name.</summary>
    public IReadOnlyDictionary<string, object> TakeWhere(
        Func<string, bool> isName, Func<IReadOnlyDictionary<string, object>, bool>? isWanted = null)
    {
        using CancellationTokenSource patience = new(s_patience);
        foreach (TraceEvent written in _events.GetConsumingEnumerable(patience.Token))
        {
            if (isName(written.EventName))
            {
                Dictionary<string, object> values = written.PayloadNames.ToDictionary(
                    static key => key, key => written.PayloadByName(key));
                if (isWanted?.Invoke(values) != false)
                {
                    return values;
                }
            }
        }

        throw new TimeoutException("No such event came.");
    }

    public void Dispose()
    {
        try
        {
            _session.Stop();
            _reader.Wait(s_patience);
            _session.Dispose();
        }
        finally
        {
            _process.Dispose();
        }
    }

    private static string SignalOf(int process) => Path.Combine(Path.GetTempPath(), $"Allocator-waits-to-be-watched-{process}");

    private static bool TryStart(DiagnosticsClient client, EventPipeProvider[] providers, out EventPipeSession? session)
    {
        try
        {
            session = client.StartEventPipeSession(providers, requestRundown: false);
            return true;
        }
        catch (ServerNotAvailableException)
        {
            session = null;
            return false;
        }
    }

    private void Read()
    {
        using EventPipeEventSource source = new(_session.EventStream);
        source.Dynamic.All += written => _events.Add(written.Clone());
        source.Process();
        _events.CompleteAdding();
    }
}
