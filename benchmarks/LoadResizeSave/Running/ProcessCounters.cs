using System;
using System.Globalization;
using System.IO;

namespace LoadResizeSave.Running;

/// <summary>What this process has used so far. Two readings, subtracted, are the cost of what ran between them.</summary>
internal sealed record ProcessCounters
{
    /// <summary>Gets the processor time spent in this program's code.</summary>
    public TimeSpan UserTime { get; init; }

    /// <summary>Gets the processor time that the operating system spent for it: page faults above all.</summary>
    public TimeSpan SystemTime { get; init; }

    /// <summary>Gets the page faults that were served without the disk; null where the system does not tell.</summary>
    public long? MinorFaults { get; init; }

    /// <summary>Gets the page faults that waited for the disk; null where the system does not tell.</summary>
    public long? MajorFaults { get; init; }

    /// <summary>Gets what was allocated on the managed heap, in bytes.</summary>
    public long ManagedBytes { get; init; }

    /// <summary>Gets the collections of generation 0 and above.</summary>
    public int Gen0 { get; init; }

    /// <summary>Gets the collections of generation 1 and above.</summary>
    public int Gen1 { get; init; }

    /// <summary>Gets the collections of generation 2.</summary>
    public int Gen2 { get; init; }

    /// <summary>Reads them now.</summary>
    public static ProcessCounters Read()
    {
        Environment.ProcessCpuUsage usage = Environment.CpuUsage;
        (long? minor, long? major) = ReadFaults();
        return new ProcessCounters
        {
            UserTime = usage.UserTime,
            SystemTime = usage.PrivilegedTime,
            MinorFaults = minor,
            MajorFaults = major,
            ManagedBytes = GC.GetTotalAllocatedBytes(precise: true),
            Gen0 = GC.CollectionCount(0),
            Gen1 = GC.CollectionCount(1),
            Gen2 = GC.CollectionCount(2),
        };
    }

    /// <summary>Returns what was used since <paramref name="earlier"/>.</summary>
    public ProcessCounters Since(ProcessCounters earlier) => new()
    {
        UserTime = UserTime - earlier.UserTime,
        SystemTime = SystemTime - earlier.SystemTime,
        MinorFaults = MinorFaults - earlier.MinorFaults,
        MajorFaults = MajorFaults - earlier.MajorFaults,
        ManagedBytes = ManagedBytes - earlier.ManagedBytes,
        Gen0 = Gen0 - earlier.Gen0,
        Gen1 = Gen1 - earlier.Gen1,
        Gen2 = Gen2 - earlier.Gen2,
    };

    private static (long? Minor, long? Major) ReadFaults()
    {
        if (!OperatingSystem.IsLinux())
        {
            return (null, null);
        }

        // proc(5): the program's name, in parentheses, may hold blanks. Behind it state is field 3, minflt 10, majflt 12.
        string text = File.ReadAllText("/proc/self/stat");
        string[] fields = text[(text.LastIndexOf(')') + 2)..].Split(' ');
        return (long.Parse(fields[7], CultureInfo.InvariantCulture), long.Parse(fields[9], CultureInfo.InvariantCulture));
    }
}
