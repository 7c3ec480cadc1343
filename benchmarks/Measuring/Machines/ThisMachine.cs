namespace Measuring.Machines;

/// <summary>Writes machines for people.</summary>
public static class MachineText
{
    /// <summary>Returns processor, cores, memory, operating system and runtime in one line.</summary>
    public static string Describe(MachineDescription machine) => Invariant(
        $"{machine.Processor}, {machine.Cores} cores, {machine.MemoryBytes / 1e9:0} GB, {machine.OperatingSystem}, {machine.Runtime}");
}

/// <summary>Describes the machine that this process runs on.</summary>
public static partial class ThisMachine
{
    public static MachineDescription Describe() => new()
    {
        Processor = ReadProcessor(),
        Cores = Environment.ProcessorCount,
        MemoryBytes = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes,
        OperatingSystem = RuntimeInformation.OSDescription,
        Runtime = RuntimeInformation.FrameworkDescription,
        PageSize = Environment.SystemPageSize,
        HugePages = ReadHugePages(),
        FirstWriteMicroseconds = TimeFirstWrite(),
    };

    /// <summary>
    /// Returns the name of the folder that keeps the results of machines with such a processor: its name in small letters, without trade
    /// marks and what every processor is called, for instance <c>intel-xeon</c>.
    /// </summary>
    public static string FolderName(MachineDescription machine)
    {
        string name = Noise().Replace(machine.Processor.ToLowerInvariant(), " ");
        return Blanks().Replace(name.Trim(), "-");
    }

    private static string ReadProcessor()
    {
        const string Information = "/proc/cpuinfo";
        string? line = File.Exists(Information)
            ? File.ReadLines(Information).FirstOrDefault(line => line.StartsWith("model name", StringComparison.Ordinal))
            : null;
        return line is null
            ? Environment.GetEnvironmentVariable("PROCESSOR_IDENTIFIER") ?? RuntimeInformation.ProcessArchitecture.ToString()
            : line[(line.IndexOf(':') + 1)..].Trim();
    }

    private static string? ReadHugePages()
    {
        const string Setting = "/sys/kernel/mm/transparent_hugepage/enabled";
        if (!File.Exists(Setting))
        {
            return null;
        }

        // "always [madvise] never": the one in brackets is in force.
        string text = File.ReadAllText(Setting);
        int start = text.IndexOf('[', StringComparison.Ordinal) + 1;
        int end = text.IndexOf(']', StringComparison.Ordinal);
        return start > 0 && end > start ? text[start..end] : text.Trim();
    }

    // Of pages as the system gives them to malloc: in huge ones if it does so without being asked.
    private static double TimeFirstWrite()
    {
        const nint Bytes = 16 << 20;
        return Math.Round(
            Statistics.Median(Enumerable.Range(0, 5).Select(static _ =>
            {
                nint address = PageMemory.Allocate(Bytes);
                long begun = Stopwatch.GetTimestamp();
                PageTouch.Write(address, Bytes);
                double microseconds = Stopwatch.GetElapsedTime(begun).TotalMicroseconds;
                PageMemory.Free(address, Bytes);
                return microseconds / ((double)Bytes / Environment.SystemPageSize);
            })),
            2);
    }

    [GeneratedRegex(@"\((r|tm)\)|\b(processor|cpu)\b|@.*|[^a-z0-9 .-]")]
    private static partial Regex Noise();

    [GeneratedRegex(" +")]
    private static partial Regex Blanks();
}
