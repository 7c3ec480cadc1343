using System;

namespace WindowsSmoke;

/// <summary>Runs named checks, prints a line for each, and counts those that failed.</summary>
internal sealed class Checks
{
    public int Failures { get; private set; }

    public void Run(string name, Action check)
    {
        try
        {
            check();
            Console.WriteLine($"ok {name}");
        }
        catch (Exception exception)
        {
            Failures++;
            Console.WriteLine($"FAIL {name}\n{exception}");
        }
    }

    public static void That(bool condition, string expectation)
    {
        if (!condition)
        {
            throw new InvalidOperationException($"Expected: {expectation}");
        }
    }
}
