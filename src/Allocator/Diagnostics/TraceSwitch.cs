namespace Allocator.Diagnostics;

/// <summary>What every rent has to look at: apart from <see cref="MemoryDiagnostics"/>, so that no rent waits for that class to be initialized.</summary>
internal static class TraceSwitch
{
    /// <summary>Gets or sets whether rents of unmanaged memory ask <see cref="MemoryDiagnostics.TryTrace"/>.</summary>
    public static bool Rents { get; set; }

    /// <summary>Gets or sets whether those of arrays do.</summary>
    public static bool Arrays { get; set; }
}
