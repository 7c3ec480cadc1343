namespace Measurements.Instructions;

/// <summary>Counts the instructions that the sample executes in one of its loops.</summary>
internal sealed class Callgrind(NativeProgram program)
{
    // A heap that fits into valgrind's address space, no second thread of the collector's, and no collection while it counts. In
    // hexadecimal, as the runtime reads it.
    private static readonly Dictionary<string, string> s_environment = new()
    {
        ["DOTNET_GCHeapHardLimit"] = "10000000",
        ["DOTNET_GCgen0size"] = "4000000",
        ["DOTNET_gcConcurrent"] = "0",
    };

    private readonly NativeProgram _program = program;

    /// <summary>
    /// Gives the instructions of each method in one operation: what more operations take more, so that the program's start does not
    /// count.
    /// </summary>
    public IReadOnlyDictionary<string, double> Count(string operation, int warmUp, int operations)
    {
        Dictionary<string, long> few = Run(operation, warmUp);
        Dictionary<string, double> each = [];
        foreach ((string method, long instructions) in Run(operation, warmUp + operations))
        {
            each[method] = (instructions - few.GetValueOrDefault(method)) / (double)operations;
        }

        return each;
    }

    private Dictionary<string, long> Run(string operation, int count)
    {
        string file = _program.NewFile("callgrind.out");
        string output = Tool.Run(
            "valgrind",
            ["--quiet", "--tool=callgrind", "--separate-threads=yes", $"--callgrind-out-file={file}", _program.Program, "loop", operation, count.ToString(CultureInfo.InvariantCulture)],
            s_environment);
        long start = long.Parse(output.Trim(), NumberStyles.HexNumber, CultureInfo.InvariantCulture);

        // That of the first thread. What the others do, the finalizer's and the thread pool's, depends on how long they wait.
        return CallgrindFile.Read(File.ReadLines($"{file}-01"), name => NameOf(name, start));
    }

    // Code whose file valgrind does not know of has its address in memory for a name.
    private string NameOf(string name, long start)
    {
        if (!name.StartsWith("0x", StringComparison.Ordinal))
        {
            return name;
        }

        // A method that was called by itself comes again, as 0x1234'2.
        int end = name.IndexOf('\'', StringComparison.Ordinal);
        long address = long.Parse(name.AsSpan(2, (end < 0 ? name.Length : end) - 2), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
        return _program.Symbols.NameOf(address >= start ? address - start : address);
    }
}
