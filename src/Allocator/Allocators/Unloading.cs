using System.Threading;
using Allocator.Diagnostics;
using Allocator.Guarding;
using Allocator.Native;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>
/// Ends what the library has in the process beside its allocators: timer, callback after collections, meter, event source, record file.
/// The runtime references these, and with them the code of the library: a load context that can be unloaded would never be.
/// </summary>
internal static class Unloading
{
    private static int s_isPrepared;

    /// <summary>Sees to it that all this ends when the load context begins to unload. Called where an allocator is made.</summary>
    public static void Prepare()
    {
        if (Volatile.Read(ref s_isPrepared) == 0 && Interlocked.Exchange(ref s_isPrepared, 1) == 0)
        {
            LoadContext.OnUnloading(Close);
        }
    }

    private static void Close()
    {
        TrimScheduler.Shared.Close();
        AllocatorMeter.Close();
        RecordedMapping.CloseFile();
        AllocatorEventSource.Log.Dispose();
    }
}
