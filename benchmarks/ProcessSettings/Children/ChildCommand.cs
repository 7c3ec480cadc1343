using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using System.Threading.Tasks;
using Measuring.Cgroups;
using Measuring.Processes;
using ProcessSettings.ManagedHeap;
using ProcessSettings.NativeHeap;

namespace ProcessSettings.Children;

/// <summary>What a child is told to do, on its command line, and how it answers.</summary>
internal static class ChildCommand
{
    private const string Malloc = "--child-malloc";
    private const string Arrays = "--child-arrays";

    /// <summary>
    /// Does what <paramref name="arguments"/> say and writes the result, or returns false where the program was started by a user.
    /// </summary>
    public static bool TryRun(string[] arguments)
    {
        switch (arguments)
        {
            case [Malloc, var milliseconds]:
                ChildProgram.EndWithParent();
                Console.Out.Write(JsonSerializer.Serialize(new MallocRun(Parse(milliseconds)).Run(), ChildJson.Default.MallocFigures));
                return true;
            case [Arrays, var jobs, var workers, var nativeMegabytes]:
                ChildProgram.EndWithParent();
                ArrayRun run = new(Parse(jobs), Parse(workers), Parse(nativeMegabytes));
                Console.Out.Write(JsonSerializer.Serialize(run.Run(), ChildJson.Default.ArrayFigures));
                return true;
            default:
                return false;
        }
    }

    /// <summary>Has a child allocate and free with malloc.</summary>
    public static MallocFigures RunMalloc(Setting setting, int milliseconds)
    {
        (string? output, string failure) = Run(setting, null, [Malloc, Format(milliseconds)]);
        return output is null
            ? throw new ChildFailedException(failure)
            : JsonSerializer.Deserialize(output, ChildJson.Default.MallocFigures)!;
    }

    /// <summary>Has a child allocate arrays in <paramref name="group"/>; null: it was killed or ended by an exception.</summary>
    public static ArrayFigures? RunArrays(Setting setting, MemoryCgroup group, int jobs, int workers, int nativeMegabytes)
    {
        string? output = Run(setting, group, [Arrays, Format(jobs), Format(workers), Format(nativeMegabytes)]).Output;
        return output is null ? null : JsonSerializer.Deserialize(output, ChildJson.Default.ArrayFigures);
    }

    private static (string? Output, string Failure) Run(Setting setting, MemoryCgroup? group, IReadOnlyList<string> arguments)
    {
        ProcessStartInfo start = ChildProgram.Describe(ChildProgram.ThisProgram, arguments);
        setting.Apply(start.Environment);
        group?.Wrap(start);
        using Process child = ChildProgram.Start(start);
        Task<string> errors = child.StandardError.ReadToEndAsync();
        string output = child.StandardOutput.ReadToEnd();
        child.WaitForExit();
        return (child.ExitCode == 0 ? output : null, $"exit code {child.ExitCode}. {errors.Result}");
    }

    private static int Parse(string text) => int.Parse(text, CultureInfo.InvariantCulture);

    private static string Format(int value) => value.ToString(CultureInfo.InvariantCulture);
}
