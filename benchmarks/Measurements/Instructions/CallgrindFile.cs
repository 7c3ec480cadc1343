using System.Text.RegularExpressions;

namespace Measurements.Instructions;

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
