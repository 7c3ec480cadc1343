using System;

namespace HeapPerf.Children;

/// <summary>A child ended without a result.</summary>
internal sealed class ChildFailedException : Exception
{
    /// <summary>Carries what is known about it.</summary>
    public ChildFailedException(string message)
        : base(message)
    {
    }
}
