using System.Runtime.ExceptionServices;
using Allocator.Diagnostics;

namespace Allocator.Pooling;

/// <summary>
/// The user's callbacks for blocks. One registers a block with a device when it gets memory; one ends that before the memory goes.
/// </summary>
internal sealed class BlockHooks(Action<nint, long>? committed, Action<nint, long>? releasing)
{
    // Stands for "no exception yet".
    private static readonly Exception s_none = new();

#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static Exception? t_first;

    [ThreadStatic]
    private static bool t_isReleasing;
#pragma warning restore IDE1006

    /// <summary>
    /// Gets whether this thread is inside a hook that runs before memory is released. Requests of that hook are served from existing
    /// memory: one that released memory itself would call the next hook, which may request memory too.
    /// </summary>
    public static bool IsReleasing => t_isReleasing;

    /// <summary>Makes the hooks of an allocator. Null if the user has none.</summary>
    public static BlockHooks? Create(MemoryAllocatorOptions options)
    {
        // Runs the type initializer here, for a caller. If it first ran at a tick and failed without memory, it would fail for ever.
        GC.KeepAlive(s_none);
        if (options.BlockCommitted is null && options.BlockReleasing is null)
        {
            return null;
        }

        UserCallbacks.Want();
        return new BlockHooks(options.BlockCommitted, options.BlockReleasing);
    }

    /// <summary>
    /// Begins a call by the user that releases memory. From here on, exceptions of this thread's hooks are kept for <see cref="EndCall"/>.
    /// </summary>
    public static void BeginCall() => t_first = s_none;

    /// <summary>Throws the first exception since <see cref="BeginCall"/>, if there is one. Called when all memory is back.</summary>
    public static void EndCall()
    {
        Exception? first = t_first;
        t_first = null;
        if (first is not null && first != s_none)
        {
            ExceptionDispatchInfo.Capture(first).Throw();
        }
    }

    /// <summary>Ends a call that had no memory to go on: later exceptions of this thread's hooks are not its own. Never throws.</summary>
    public static void ForgetCall()
    {
        try
        {
            t_first = null;
        }
        catch (OutOfMemoryException)
        {
            // The first use of a thread-static in a thread needs managed memory: the call had not begun.
        }
    }

    /// <summary>Calls the hook for new memory. Its exception goes on to the request that needed the block.</summary>
    public void Commit(nint address, long lengthInBytes)
    {
        ShortLock.AssertNoneHeld();
        committed?.Invoke(address, lengthInBytes);
    }

    /// <summary>Returns false if the user's code threw: a device may still have the block, which keeps its memory.</summary>
    public bool TryRelease(nint address, long lengthInBytes) =>
        Try(releasing, nameof(MemoryAllocatorOptions.BlockReleasing), address, lengthInBytes);

    /// <summary>
    /// Tells the user that a block keeps its memory after all, because the system refuses to take it. False if the user's code threw: the
    /// hook is called again before the block is used.
    /// </summary>
    public bool TryCancelRelease(nint address, long lengthInBytes) =>
        Try(committed, nameof(MemoryAllocatorOptions.BlockCommitted), address, lengthInBytes);

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
            // The first use of a thread-static in a thread needs managed memory. If there is none, the block matters more.
        }
    }
}
