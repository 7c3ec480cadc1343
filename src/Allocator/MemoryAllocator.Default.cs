using System;
using System.Runtime.ExceptionServices;
using Allocator.Allocators;

namespace Allocator;

/// <content>The allocator that the whole process shares.</content>
public abstract partial class MemoryAllocator
{
    /// <summary>
    /// Gets the allocator that the process shares. It is made on first use, and <see cref="Dispose"/> does nothing to it.
    /// </summary>
    /// <remarks>
    /// Where the library is loaded in a context that can be unloaded, it belongs to that context, and ends when the host begins to unload
    /// it.
    /// </remarks>
    /// <exception cref="InvalidOperationException">
    /// The AppContext data <c>Allocator.Safety</c> or the environment variable <c>ALLOCATOR_SAFETY</c> is no safety mode.
    /// </exception>
    public static MemoryAllocator Default => SharedAllocator.Instance ?? SharedAllocator.ThrowFailure();

    // In a class of its own, so that callers who bring their own allocator never make this one.
    private static class SharedAllocator
    {
        public static readonly MemoryAllocator? Instance;

        private static readonly ExceptionDispatchInfo? s_failure;

        // What a type initializer throws reaches callers wrapped, with a message that tells nothing.
        static SharedAllocator()
        {
            try
            {
                Instance = new PooledMemoryAllocator(
                    new AllocatorSettings(new MemoryAllocatorOptions { Name = nameof(Default) }) { IsShared = true });
            }
            catch (InvalidOperationException e)
            {
                s_failure = ExceptionDispatchInfo.Capture(e);
            }
        }

        public static MemoryAllocator ThrowFailure()
        {
            s_failure!.Throw();
            return null!;
        }
    }
}
