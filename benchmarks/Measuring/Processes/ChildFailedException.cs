using System;

namespace Measuring.Processes;

/// <summary>A child ended without a result.</summary>
public sealed class ChildFailedException : Exception
{
    public ChildFailedException(string message)
        : base(message)
    {
    }
}
