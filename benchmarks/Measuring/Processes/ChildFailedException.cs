using System;

namespace Measuring.Processes;

/// <summary>A child ended without a result.</summary>
public sealed class ChildFailedException : Exception
{
    /// <summary>Carries what the child wrote.</summary>
    public ChildFailedException(string message)
        : base(message)
    {
    }
}
