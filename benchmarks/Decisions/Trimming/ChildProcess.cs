using System.Text.Json;
using Measuring.Processes;

namespace Decisions.Trimming;

/// <summary>Starts this program again as a <see cref="TrimmingChild"/>.</summary>
internal static class ChildProcess
{
    /// <summary>Runs a child and returns what it found.</summary>
    /// <exception cref="ChildFailedException">It ended without a result; the message has what it wrote about that.</exception>
    public static TrimmingResult Run(TrimmingRun run)
    {
        string output = ChildProgram.Run(ChildProgram.ThisProgram, [TrimmingChild.Argument, JsonSerializer.Serialize(run, TrimmingJson.Default.TrimmingRun)]);
        return JsonSerializer.Deserialize(output, TrimmingJson.Default.TrimmingResult)!;
    }
}
