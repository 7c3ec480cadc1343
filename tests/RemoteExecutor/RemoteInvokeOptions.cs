using System.Diagnostics;

namespace Microsoft.DotNet.RemoteExecutor;

/// <summary>How a child is started and what is expected of it. One instance serves one call.</summary>
public sealed class RemoteInvokeOptions
{
    /// <summary>How the process starts: its environment, working folder and redirections. File name and arguments are filled in.</summary>
    public ProcessStartInfo StartInfo { get; set; } = new();

    public IDictionary<string, string?> Environment => StartInfo.Environment;

    /// <summary>
    /// How many milliseconds <see cref="RemoteInvokeHandle.Dispose"/> waits before it kills the process; three times as many if the
    /// process still uses a processor.
    /// </summary>
    public int TimeOut { get; set; } = RemoteExecutor.FailWaitTimeoutMilliseconds;

    /// <summary>Whether an exit code other than <see cref="ExpectedExitCode"/> is a failure.</summary>
    public bool CheckExitCode { get; set; } = true;

    /// <summary>The exit code of success.</summary>
    public int ExpectedExitCode { get; set; } = RemoteExecutor.SuccessExitCode;

    /// <summary>Where the child writes the exception that it ends with.</summary>
    public string ExceptionFile { get; } = Path.Combine(Path.GetTempPath(), "RemoteExecutor-" + Path.GetRandomFileName());

    /// <summary>Properties added to the child's <c>runtimeconfig.json</c>: AppContext data, GC settings.</summary>
    public IDictionary<string, object> RuntimeConfigurationOptions { get; } = new Dictionary<string, object>();

    /// <summary>Where the child's own configuration stands, if it has one.</summary>
    internal string ConfigurationFile => ExceptionFile + ".runtimeconfig.json";
}
