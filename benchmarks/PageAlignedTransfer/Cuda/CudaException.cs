using System;

namespace PageAlignedTransfer.Cuda;

/// <summary>The CUDA driver could not do what it was asked.</summary>
internal sealed class CudaException : Exception
{
    /// <summary>Says which call failed, and with what.</summary>
    public CudaException(string message)
        : base(message)
    {
    }
}
