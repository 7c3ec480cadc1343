namespace Microsoft.DotNet.RemoteExecutor;

/// <summary>
/// Runs what leaves a process without managed memory. The runtime ends such a process if one of its own threads, such as that of the
/// compiler, allocates just then; that says nothing about the code under test, so another process shows it.
/// </summary>
public static class ExhaustedRuntime
{
    private const int MostProcesses = 5;

    // The last is a class of the runtime's own that was used for the first time without memory, and stays broken.
    private static readonly string[] s_deathsOfRuntime =
        ["Out of memory.", "PAL_SEHException", "Internal CLR error", "The type initializer for 'System.Diagnostics.Metrics."];

    /// <summary>Starts processes until one survives or fails for another reason.</summary>
    /// <exception cref="RemoteExecutionException">One failed for another reason, or the runtime ended five.</exception>
    public static void Survive(Func<RemoteInvokeHandle> start)
    {
        for (int i = 1; ; i++)
        {
            try
            {
                start().Dispose();
                return;
            }
            catch (RemoteExecutionException death)
                when (i < MostProcesses && s_deathsOfRuntime.Any(death.Message.Contains))
            {
            }
        }
    }
}
