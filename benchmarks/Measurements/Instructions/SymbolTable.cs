using System.Text.RegularExpressions;

namespace Measurements.Instructions;

/// <summary>The methods of a native program by their addresses.</summary>
internal sealed partial class SymbolTable
{
    private readonly List<long> _addresses = [];
    private readonly List<string> _names = [];

    public static SymbolTable Read(string file) => Parse(Tool.Run("nm", ["--numeric-sort", "--defined-only", file]));

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
