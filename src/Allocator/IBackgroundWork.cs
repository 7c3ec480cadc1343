namespace Allocator;

/// <summary>Work that the library does on its own account. It is its own place in the list of what is tried again, which therefore needs no memory.</summary>
internal interface IBackgroundWork
{
    /// <summary>Gets whether it is to be done, and the next one in that list. Used by <see cref="Background"/> only.</summary>
    ref BackgroundState State { get; }

    /// <summary>Does the work. Where it throws it is called again later, and goes on where it was.</summary>
    void DoWork();
}
