using System;

namespace LoadResizeSave.Running;

/// <summary>A child ended without a result.</summary>
internal sealed class ChildFailedException : Exception
{
    /// <summary>Carries what the child wrote.</summary>
    public ChildFailedException(string message)
        : base(message)
    {
    }
}
