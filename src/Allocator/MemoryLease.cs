using System.Diagnostics.CodeAnalysis;
using Allocator.Lifetime;

namespace Allocator;

/// <summary>A buffer for use within one method, without an object for the GC. Dispose it, best by <c>using</c>.</summary>
/// <typeparam name="T">The element type.</typeparam>
/// <remarks>For one thread. The compiler keeps spans from outliving the variable. Disposing a copy ends the lease of both.</remarks>
public ref struct MemoryLease<T>
    where T : struct
{
    private LifetimeGuard? _guard;
    private readonly long _generation;
    private readonly int _length;

    internal MemoryLease(LifetimeGuard guard, long generation, int length)
    {
        _guard = guard;
        _generation = generation;
        _length = length;
    }

    /// <summary>Gets the memory.</summary>
    /// <exception cref="ObjectDisposedException">The lease has been disposed.</exception>
    [UnscopedRef]
    public readonly Span<T> Span
    {
        get
        {
            if (_guard is null)
            {
                return default;
            }

            if (!_guard.TryGetSpan(_generation, _length, out Span<T> span))
            {
                Throw.Disposed(nameof(MemoryLease<T>), _guard);
            }

            return span;
        }
    }

    /// <summary>Gets the length in elements.</summary>
    public readonly int Length => _length;

    /// <summary>Returns the memory. Further calls, on this instance or a copy, have no effect.</summary>
    /// <exception cref="MemoryCorruptedException">In Guarded mode: a byte around the memory was changed. It has been returned.</exception>
    public void Dispose() => _guard = _guard?.EndLease(_generation);
}
