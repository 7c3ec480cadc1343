using System;

namespace HeapPerf.Heaps;

/// <summary>A heap that this system does not have.</summary>
internal sealed class HeapUnavailableException : Exception
{
    /// <summary>Says why.</summary>
    public HeapUnavailableException(string reason)
        : base(reason)
    {
    }
}
