namespace ContractSuite;

/// <summary>Runs named checks, prints a line for each, and counts them.</summary>
internal sealed class Checks
{
    public int Passed { get; private set; }

    public int Failures { get; private set; }

    /// <summary>Runs a check that fails by throwing.</summary>
    public void Run(string name, Action check) => Run(name, () =>
    {
        check();
        return true;
    });

    /// <summary>Runs a check that fails by throwing or by false.</summary>
    public void Run(string name, Func<bool> check)
    {
        try
        {
            if (check())
            {
                Passed++;
                Console.WriteLine($"ok {name}");
                return;
            }

            Console.WriteLine($"FAIL {name}");
        }
        catch (Exception exception)
        {
            Console.WriteLine($"FAIL {name}\n{exception}");
        }

        Failures++;
    }

    /// <summary>Prints the counts, and gives the exit code: the number of failures.</summary>
    public int Report()
    {
        Console.WriteLine($"{Passed} passed, {Failures} failed");
        return Failures;
    }

    public static void That(bool condition, string expectation)
    {
        if (!condition)
        {
            throw new InvalidOperationException($"Expected: {expectation}");
        }
    }

    /// <summary>Fails unless the action throws what it should.</summary>
    public static void Throws<TException>(Action action)
        where TException : Exception
    {
        try
        {
            action();
        }
        catch (TException)
        {
            return;
        }

        throw new InvalidOperationException($"Expected: {typeof(TException).Name}");
    }
}
