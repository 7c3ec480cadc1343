namespace PageAlignedTransfer.Cuda;

/// <summary>How long one copy to the device took, in microseconds.</summary>
/// <param name="Register">Pinning the memory; 0 where that is not part of the copy.</param>
/// <param name="Copy">The copy, until the device has the bytes.</param>
/// <param name="Unregister">Ending the pin; 0 where that is not part of the copy.</param>
internal readonly record struct DeviceCopyPhases(double Register, double Copy, double Unregister)
{
    /// <summary>Gets the time for all of it.</summary>
    public double Total => Register + Copy + Unregister;
}
