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

    /// <summary>
    /// Gives the instructions of each method in one operation: what more operations take more, so that the program's start does not count.
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
        string file = program.NewFile("callgrind.out");
        ProcessStartInfo start = new(
            "valgrind",
            [
                "--quiet", "--tool=callgrind", "--separate-threads=yes", $"--callgrind-out-file={file}", program.Program, "loop",
                operation, Invariant($"{count}"),
            ]);
        foreach ((string name, string value) in s_environment)
        {
            start.Environment[name] = value;
        }

        string output = ChildProgram.Run(start);
        long begin = long.Parse(output.Trim(), NumberStyles.HexNumber, CultureInfo.InvariantCulture);

        // That of the first thread. What the others do, the finalizer's and the thread pool's, depends on how long they wait.
        return CallgrindFile.Read(File.ReadLines($"{file}-01"), name => NameOf(name, begin));
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
        return program.Symbols.NameOf(address >= start ? address - start : address);
    }
}

/// <summary>The file that callgrind writes.</summary>
internal static partial class CallgrindFile
{
    /// <param name="nameOf">Turns the file's names into those of methods.</param>
    public static Dictionary<string, long> Read(IEnumerable<string> lines, Func<string, string> nameOf)
    {
        // The format: "fn=(number) name", later "fn=(number)", and behind it lines of "place cost". The line behind "calls=" is the cost
        // of what was called, and belongs to that.
        Dictionary<string, string> names = [];
        Dictionary<string, long> costs = [];
        string method = "";
        bool isOfCallee = false;
        foreach (string line in lines)
        {
            if (MethodLine().Match(line) is { Success: true } found)
            {
                string number = found.Groups["number"].Value;
                if (found.Groups["name"].Value is { Length: > 0 } name)
                {
                    names[number] = nameOf(name);
                }

                method = found.Groups["callee"].Success ? method : names[number];
            }
            else if (line.StartsWith("calls=", StringComparison.Ordinal))
            {
                isOfCallee = true;
            }
            else if (CostLine().Match(line) is { Success: true } cost)
            {
                if (!isOfCallee)
                {
                    costs[method] = costs.GetValueOrDefault(method) + long.Parse(cost.Groups["cost"].Value, CultureInfo.InvariantCulture);
                }

                isOfCallee = false;
            }
        }

        return costs;
    }

    [GeneratedRegex(@"^(?<callee>c)?fn=\((?<number>\d+)\)(?: (?<name>.*))?$")]
    private static partial Regex MethodLine();

    [GeneratedRegex(@"^[+\-*\d]\S* (?<cost>\d+)$")]
    private static partial Regex CostLine();
}

/// <summary>The methods of a native program by their addresses.</summary>
internal sealed partial class SymbolTable
{
    private readonly List<long> _addresses = [];
    private readonly List<string> _names = [];

    public static SymbolTable Read(string file)
        => Parse(ChildProgram.Run(new ProcessStartInfo("nm", ["--numeric-sort", "--defined-only", file])));

    public static SymbolTable Parse(string listing)
    {
        SymbolTable table = new();
        foreach (string line in listing.Split('\n'))
        {
            // Address, kind, name; of the kinds, text.
            string[] parts = line.Split(' ', 3);
            if (parts is [string address, "t" or "T", string name])
            {
                table._addresses.Add(long.Parse(address, NumberStyles.HexNumber, CultureInfo.InvariantCulture));
                table._names.Add(Readable(name));
            }
        }

        return table;
    }

    /// <summary>Gives the name of the method that an address, counted from the program's beginning, lies in.</summary>
    public string NameOf(long address)
    {
        int index = _addresses.BinarySearch(address);
        index = index >= 0 ? index : ~index - 1;
        return index >= 0 ? _names[index] : address.ToString("x", CultureInfo.InvariantCulture);
    }

    // The assembly, the namespace and the type are joined by one underscore, a type and its member by two. A generic type has its number
    // of parameters behind one more.
    private static string Readable(string name)
    {
        int member = name.LastIndexOf("__", StringComparison.Ordinal);
        if (member <= 0)
        {
            return name;
        }

        string type = GenericPart().Replace(name[..member].TrimEnd('_'), "");
        return $"{type[(type.LastIndexOf('_') + 1)..]}.{name[(member + 2)..]}";
    }

    [GeneratedRegex(@"_\d+(<.*>)?$")]
    private static partial Regex GenericPart();
}
