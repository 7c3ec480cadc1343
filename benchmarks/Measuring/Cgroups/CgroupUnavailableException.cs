using System;

namespace Measuring.Cgroups;

/// <summary>No memory cgroup can be made here; the message says why.</summary>
public sealed class CgroupUnavailableException : Exception
{
    /// <summary>Says why.</summary>
    public CgroupUnavailableException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
