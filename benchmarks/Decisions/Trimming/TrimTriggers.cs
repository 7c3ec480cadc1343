namespace Decisions.Trimming;

/// <summary>Names of triggers and what follows from them.</summary>
internal static class TrimTriggers
{
    /// <summary>Returns what tables call a trigger.</summary>
    public static string NameOf(TrimTrigger trigger) => trigger switch
    {
        TrimTrigger.Timer => "timer",
        TrimTrigger.Collections => "Gen2",
        TrimTrigger.PressureOfCommitted => "Gen2, pressure (committed)",
        TrimTrigger.PressureOfRetained => "Gen2, pressure (retained)",
        _ => "timer and Gen2 (library)",
    };

    /// <summary>Returns what tables call what a process does afterwards.</summary>
    public static string NameOf(Aftermath aftermath) => aftermath switch
    {
        Aftermath.ShortLivedObjects => "short-lived objects",
        Aftermath.LongLivedObjects => "long-lived objects",
        _ => "nothing",
    };

    /// <summary>Returns whether the collector is told how much unmanaged memory there is.</summary>
    public static bool TellsCollector(this TrimTrigger trigger) => trigger is TrimTrigger.PressureOfCommitted or TrimTrigger.PressureOfRetained;

    /// <summary>Returns whether a timer runs.</summary>
    public static bool HasTimer(this TrimTrigger trigger) => trigger is TrimTrigger.Timer or TrimTrigger.Both;
}
