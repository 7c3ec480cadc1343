using System.Reflection;
using System.Text;
using Allocator.Tests.Limits;

namespace Allocator.AspNetCore.Tests;

/// <summary>A web application of the guides in a process of its own, waited for until it listens or has ended.</summary>
internal sealed class ListeningProgram : IDisposable
{
    private const string Listening = "Now listening on: ";

    // Of a process that hangs. On a busy machine one starts slowly.
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(5);

    private readonly RemoteInvokeHandle _handle;

    private ListeningProgram(RemoteInvokeHandle handle, Uri address, string printed)
    {
        _handle = handle;
        Address = address;
        Printed = printed;
        _ = handle.Process.StandardOutput.ReadToEndAsync();
    }

    public Uri Address { get; }

    /// <summary>Gets what it had printed until it listened.</summary>
    public string Printed { get; }

    public bool HasExited => _handle.Process.HasExited;

    /// <summary>Starts one.</summary>
    /// <param name="program">The path of its assembly.</param>
    /// <param name="folder">Where it runs.</param>
    /// <param name="group">The folder of the control group that it enters first; none if empty.</param>
    /// <param name="heapLimit">The hard limit of its managed heap, or null.</param>
    public static ListeningProgram Start(string program, string folder, string group = "", string? heapLimit = null)
    {
        RemoteInvokeOptions options = new() { CheckExitCode = false };
        options.StartInfo.WorkingDirectory = folder;
        options.StartInfo.RedirectStandardOutput = true;
        options.StartInfo.Environment["ASPNETCORE_URLS"] = "http://127.0.0.1:0";
        options.StartInfo.Environment.Remove("ALLOCATOR_SAFETY");
        if (heapLimit is not null)
        {
            options.StartInfo.Environment["DOTNET_GCHeapHardLimit"] = heapLimit;
        }

        RemoteInvokeHandle handle = RemoteExecutor.Invoke(
            static (path, group) =>
            {
                if (group.Length > 0)
                {
                    TestCgroup.Enter(group);
                }

                Assembly.LoadFrom(path).EntryPoint!.Invoke(null, [Array.Empty<string>()]);
                return RemoteExecutor.SuccessExitCode;
            },
            program,
            group,
            options);
        StringBuilder printed = new();
        using (new Timer(static handle => ((RemoteInvokeHandle)handle!).Process.Kill(), handle, s_patience, Timeout.InfiniteTimeSpan))
        {
            while (handle.Process.StandardOutput.ReadLine() is { } line)
            {
                printed.AppendLine(line);
                int at = line.IndexOf(Listening, StringComparison.Ordinal);
                if (at >= 0)
                {
                    return new ListeningProgram(handle, new Uri(line[(at + Listening.Length)..].Trim()), printed.ToString());
                }
            }
        }

        // Throws what the application threw, if it did.
        handle.Dispose();
        throw new InvalidOperationException($"The application has ended:\n{printed}");
    }

    public void Dispose()
    {
        _handle.Process.Kill();
        _handle.Dispose();
    }
}
