using System;

namespace AotSample;

/// <summary>Runs named checks, prints a line for each, and counts those that failed.</summary>
internal sealed class Checks
{
    public int Failures { get; private set; }

    public void Run(string name, Func<bool> check)
    {
        string outcome;
        try
        {
            outcome = check() ? "ok" : "FAIL";
        }
        catch (Exception exception)
        {
            Console.WriteLine(exception);
            outcome = "FAIL";
        }

        Failures += outcome == "ok" ? 0 : 1;
        Console.WriteLine($"{outcome} {name}");
    }
}
