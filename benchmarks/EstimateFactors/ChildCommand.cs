using System;
using System.Collections.Generic;
using System.Globalization;
using EstimateFactors.Trials;
using Measuring.Processes;

namespace EstimateFactors;

/// <summary>
/// What a child is told to measure, on its command line, and how it answers: each picture and operation has a process, and with it a
/// peak, of its own.
/// </summary>
internal static class ChildCommand
{
    private const string Trial = "--child-trial";

    /// <summary>
    /// Does what <paramref name="arguments"/> say and writes the result, or returns false where the program was started by a user.
    /// </summary>
    public static bool TryRun(string[] arguments)
    {
        if (arguments is not [Trial, var operation, var file, var warmUp, var reduction])
        {
            return false;
        }

        ChildProgram.EndWithParent();
        TrialPeak peak =
            FactorTrial.Run(Enum.Parse<Operation>(operation), file, warmUp, int.Parse(reduction, CultureInfo.InvariantCulture));
        Console.Out.Write(FormattableString.Invariant($"{peak.PoolBytes} {peak.ProcessBytes}"));
        return true;
    }

    /// <summary>Has a child run <paramref name="operation"/> on <paramref name="picture"/>.</summary>
    /// <exception cref="ChildFailedException">It could not be decoded, or there was no memory.</exception>
    public static TrialPeak Run(Operation operation, Picture picture, int reduction)
    {
        IReadOnlyList<string> arguments =
            [Trial, operation.ToString(), picture.Path, picture.WarmUp, reduction.ToString(CultureInfo.InvariantCulture)];

        // Not the program that runs now: tests call this too.
        string[] answer = ChildProgram.Run(typeof(ChildCommand).Assembly.Location, arguments).Split(' ');
        return new TrialPeak(long.Parse(answer[0], CultureInfo.InvariantCulture), long.Parse(answer[1], CultureInfo.InvariantCulture));
    }
}
