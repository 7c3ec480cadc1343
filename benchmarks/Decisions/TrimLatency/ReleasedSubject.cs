using System;
using Allocator;

namespace Decisions.TrimLatency;

/// <summary>The pool, trimmed by the public call for it.</summary>
internal sealed class ReleasedSubject : PooledSubject
{
    /// <summary>Makes a subject with a pool of <paramref name="blocks"/> blocks and a little more.</summary>
    public ReleasedSubject(string name, int blocks, Action<MemoryAllocator, RentWindow> rent)
        : base(name, MemoryAllocator.Create(Options(blocks)), rent)
    {
    }

    /// <inheritdoc/>
    public override void Trim() => Allocator.ReleaseRetainedResources();
}
