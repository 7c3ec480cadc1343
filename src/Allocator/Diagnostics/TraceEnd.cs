namespace Allocator.Diagnostics;

/// <summary>How a traced rent came to its end.</summary>
internal enum TraceEnd
{
    /// <summary>By a call of the user's.</summary>
    Returned,

    /// <summary>By a finalizer of the user's, which disposed what was unreachable like itself.</summary>
    ReturnedByFinalizer,

    /// <summary>Nobody disposed it, or it never began. No return is told.</summary>
    Abandoned,
}
