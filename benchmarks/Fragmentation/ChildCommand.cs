using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text.Json;
using Fragmentation.Bursts;
using Fragmentation.Churn;
using Fragmentation.Subjects;
using Measuring.Processes;

namespace Fragmentation;

/// <summary>What a child is told to measure, on its command line, and how it answers.</summary>
internal static class ChildCommand
{
    private const string Churn = "--child-churn";
    private const string Burst = "--child-burst";

    /// <summary>Does what <paramref name="arguments"/> say and writes the result, or returns false where the program was started by a user.</summary>
    public static bool TryRun(string[] arguments)
    {
        switch (arguments)
        {
            case [Churn, var pattern, var kind, var iterations, var limit, var seed]:
                ChildProgram.EndWithParent();
                ChurnRun run = new(ChurnPattern.All.Single(one => one.Name == pattern), ParseInteger(iterations), long.Parse(limit, CultureInfo.InvariantCulture));
                Console.Out.Write(JsonSerializer.Serialize(run.Run(Enum.Parse<SubjectKind>(kind), ParseInteger(seed)), ChildJson.Default.ChurnReport));
                return true;
            case [Burst, var kind, var blocks]:
                ChildProgram.EndWithParent();
                Console.Out.Write(JsonSerializer.Serialize(BurstRun.Run(Enum.Parse<SubjectKind>(kind), ParseInteger(blocks)), ChildJson.Default.BurstReport));
                return true;
            default:
                return false;
        }
    }

    /// <summary>Has a child run <paramref name="pattern"/>.</summary>
    public static ChurnReport RunChurn(ChurnPattern pattern, SubjectKind kind, int iterations, long residentLimit, int seed)
    {
        IReadOnlyList<string> arguments =
            [Churn, pattern.Name, kind.ToString(), Format(iterations), Format(residentLimit), Format(seed)];
        return JsonSerializer.Deserialize(ChildProgram.Run(ChildProgram.ThisProgram, arguments), ChildJson.Default.ChurnReport)!;
    }

    /// <summary>Has a child run the waves of bursts of <paramref name="blocks"/> blocks.</summary>
    public static BurstReport RunBurst(SubjectKind kind, int blocks)
        => JsonSerializer.Deserialize(ChildProgram.Run(ChildProgram.ThisProgram, [Burst, kind.ToString(), Format(blocks)]), ChildJson.Default.BurstReport)!;

    private static int ParseInteger(string text) => int.Parse(text, CultureInfo.InvariantCulture);

    private static string Format(long value) => value.ToString(CultureInfo.InvariantCulture);
}
