using System;
using System.Runtime.ExceptionServices;
using System.Threading;

namespace Allocator.Pooling;

/// <summary>What the user does with a block besides using it: registers it with a device when it gets memory, and ends that before the memory goes.</summary>
internal sealed class BlockHooks
{
    private readonly Action<nint, long>? _committed;
    private readonly Action<nint, long>? _releasing;
    private ExceptionDispatchInfo? _failure;

    /// <summary>Makes hooks.</summary>
    /// <param name="committed">What is told of every block that has got memory.</param>
    /// <param name="releasing">What is told of every block that is about to lose it.</param>
    public BlockHooks(Action<nint, long>? committed, Action<nint, long>? releasing)
    {
        _committed = committed;
        _releasing = releasing;
    }

    /// <summary>Gets the hooks of which there are none.</summary>
    public static BlockHooks None { get; } = new(null, null);

    /// <summary>Says that a block has memory. What the user's code throws goes on to whoever needed the block.</summary>
    public void Commit(nint address, long lengthInBytes) => _committed?.Invoke(address, lengthInBytes);

    /// <summary>Says that a block is about to lose its memory.</summary>
    /// <returns>False where the user's code threw: a device may still have the block.</returns>
    public bool TryRelease(nint address, long lengthInBytes) => Try(_releasing, address, lengthInBytes);

    /// <summary>Says that a block keeps its memory after all, because the system wants it to.</summary>
    public void TakeBackRelease(nint address, long lengthInBytes) => Try(_committed, address, lengthInBytes);

    /// <summary>Throws what was thrown first since the last call, where nobody could be told: memory is released on threads that have no caller, too.</summary>
    public void ThrowIfAny() => Interlocked.Exchange(ref _failure, null)?.Throw();

    private bool Try(Action<nint, long>? hook, nint address, long lengthInBytes)
    {
        try
        {
            hook?.Invoke(address, lengthInBytes);
            return true;
        }
        catch (Exception exception)
        {
            Interlocked.CompareExchange(ref _failure, ExceptionDispatchInfo.Capture(exception), null);
            return false;
        }
    }
}
