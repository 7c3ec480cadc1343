using System.Runtime.ExceptionServices;
using Allocator.Diagnostics;

namespace Allocator.Pooling;

/// <summary>
/// What the user does with a block besides using it: registers it with a device when it gets memory, and ends that before the memory goes.
/// </summary>
internal sealed class BlockHooks
{
    // What stands for the first exception while there is none.
    private static readonly Exception s_none = new();

#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static Exception? t_first;

    [ThreadStatic]
    private static bool t_isReleasing;
#pragma warning restore IDE1006

    private readonly Action<nint, long>? _committed;
    private readonly Action<nint, long>? _releasing;

    private BlockHooks(Action<nint, long>? committed, Action<nint, long>? releasing)
    {
        _committed = committed;
        _releasing = releasing;
    }

    /// <summary>
    /// Gets whether this thread is within a hook on memory's way back to the system. What that hook requests is served from what is there:
    /// a request that released memory for itself would call the next hook, which may request memory too.
    /// </summary>
    public static bool IsReleasing => t_isReleasing;

    /// <summary>Makes the hooks of an allocator; null where the user has none.</summary>
    public static BlockHooks? Create(MemoryAllocatorOptions options)
    {
        // Runs the type initializer here, where there is a caller: one that fails at a tick for want of memory fails for ever.
        GC.KeepAlive(s_none);
        if (options.BlockCommitted is null && options.BlockReleasing is null)
        {
            return null;
        }

        UserCallbacks.Want();
        return new BlockHooks(options.BlockCommitted, options.BlockReleasing);
    }

    /// <summary>
    /// Begins a call of the user's that releases memory: what hooks throw on this thread from here on is for <see cref="EndCall"/>.
    /// </summary>
    public static void BeginCall() => t_first = s_none;

    /// <summary>Throws the first exception since <see cref="BeginCall"/>, where there is one. Called when all memory is back.</summary>
    public static void EndCall()
    {
        Exception? first = t_first;
        t_first = null;
        if (first is not null && first != s_none)
        {
            ExceptionDispatchInfo.Capture(first).Throw();
        }
    }

    /// <summary>What the user's code throws goes on to the request that needed the block.</summary>
    public void Commit(nint address, long lengthInBytes)
    {
        ShortLock.AssertNoneHeld();
        _committed?.Invoke(address, lengthInBytes);
    }

    /// <summary>False where the user's code threw: a device may still have the block, which keeps its memory.</summary>
    public bool TryRelease(nint address, long lengthInBytes) =>
        Try(_releasing, nameof(MemoryAllocatorOptions.BlockReleasing), address, lengthInBytes);

    /// <summary>
    /// Says that a block keeps its memory after all, because the system refuses to take it. False where the user's code threw: it is told
    /// once more before the block is used.
    /// </summary>
    public bool TryCancelRelease(nint address, long lengthInBytes) =>
        Try(_committed, nameof(MemoryAllocatorOptions.BlockCommitted), address, lengthInBytes);

    private static bool Try(Action<nint, long>? hook, string name, nint address, long lengthInBytes)
    {
        bool begins = false;
        try
        {
            begins = !t_isReleasing;
            t_isReleasing = true;
            UserCallbacks.Begin(name);
            hook?.Invoke(address, lengthInBytes);
            return true;
        }
        catch (Exception exception)
        {
            Note(name, exception);
            return false;
        }
        finally
        {
            if (begins)
            {
                t_isReleasing = false;
            }

            UserCallbacks.End();
        }
    }

    private static void Note(string name, Exception exception)
    {
        try
        {
            if (t_first is null)
            {
                AllocatorEventSource.Log.CallbackFailed(name, exception);
            }
            else if (t_first == s_none)
            {
                t_first = exception;
            }
        }
        catch (OutOfMemoryException)
        {
            // A thread's first use of a thread-static needs managed memory. The block is what matters.
        }
    }
}
