namespace LoadResizeSave.Running;

/// <summary>What this process has used so far. Two readings, subtracted, are the cost of what ran between them.</summary>
internal sealed record ProcessCounters
{
    public TimeSpan UserTime { get; init; }

    /// <summary>Gets the processor time that the operating system spent for it: page faults above all.</summary>
    public TimeSpan SystemTime { get; init; }

    /// <summary>Gets the page faults that were served without the disk; null where the system does not tell.</summary>
    public long? MinorFaults { get; init; }

    /// <summary>Gets the page faults that waited for the disk; null where the system does not tell.</summary>
    public long? MajorFaults { get; init; }

    public long ManagedBytes { get; init; }

    public int Gen2 { get; init; }

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
            Gen2 = GC.CollectionCount(2),
        };
    }

    public ProcessCounters Since(ProcessCounters earlier) => new()
    {
        UserTime = UserTime - earlier.UserTime,
        SystemTime = SystemTime - earlier.SystemTime,
        MinorFaults = MinorFaults - earlier.MinorFaults,
        MajorFaults = MajorFaults - earlier.MajorFaults,
        ManagedBytes = ManagedBytes - earlier.ManagedBytes,
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
