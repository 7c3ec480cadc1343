namespace Allocator.Tests.Families;

/// <summary>What a call came to, in words that two implementations are compared by: a result, or an exception and how it came.</summary>
internal static class Outcome
{
    /// <summary>
    /// Makes a call and says what it came to. A task is waited for; an exception in it is told from one that was thrown.
    /// </summary>
    /// <param name="call">Returns a value, a task, or null.</param>
    public static string Of(Func<object?> call)
    {
        Task task;
        try
        {
            object? result = call();
            if (result is not Task running)
            {
                return Describe(result);
            }

            task = running;
        }
        catch (Exception e)
        {
            return $"throws {Describe(e)}";
        }

        try
        {
            task.GetAwaiter().GetResult();
            return $"a task with {Describe(task.GetType().GetProperty("Result")?.GetValue(task))}";
        }
        catch (Exception e)
        {
            return $"a task that is {task.Status} by {Describe(e)}";
        }
    }

    /// <summary>Says which exception a call is to throw at once.</summary>
    public static string Throws<TException>(string? parameter = null)
        where TException : Exception => $"throws {typeof(TException).Name}{(parameter is null ? "" : $" of {parameter}")}";

    // Of a cancelled task some throw what others derive from.
    private static string Describe(Exception e) =>
        e is OperationCanceledException ? nameof(OperationCanceledException)
        : e.GetType().Name + (e is ArgumentException { ParamName: string name } ? $" of {name}" : "");

    private static string Describe(object? result) => result switch
    {
        null => "nothing",
        byte[] bytes => $"{bytes.Length} bytes, of hash {bytes.Aggregate(17, static (hash, value) => unchecked(hash * 31 + value))}",
        _ when result.GetType().Name == "VoidTaskResult" => "nothing",
        _ => result.ToString()!,
    };
}
