namespace Allocator.Analyzers.Summaries;

/// <summary>What a call does with an argument that is a buffer or holds one.</summary>
internal enum Passing
{
    /// <summary>It may be kept or disposed, so nothing is known about it any more.</summary>
    Escapes,

    /// <summary>It is used during the call and no longer.</summary>
    Borrowed,

    /// <summary>It is disposed when the call returns.</summary>
    Disposed,

    /// <summary>It is an object that owns its buffer, and gets its first buffer or a new one.</summary>
    Refilled,

    /// <summary>It is compared or described, which is allowed after its disposal too: its memory is not touched.</summary>
    Mentioned,

    /// <summary>The result is the argument, or a view of it, whatever path the call takes.</summary>
    Returned,

    /// <summary>The result holds it: an object that the call makes, an iterator.</summary>
    Held,

    /// <summary>The returned task uses it until it has completed.</summary>
    HeldByTask,

    /// <summary>It is an object that owns buffers, and some of their memory goes to <c>out</c> parameters.</summary>
    HandedOut,
}
