using System;
using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Measuring.Processes;

/// <summary>A task that a program does when it was started by itself.</summary>
public interface IChildTask
{
    /// <summary>Does what <paramref name="arguments"/> ask for, or returns false where they are not for this task.</summary>
    bool TryServe(string[] arguments);
}

/// <summary>
/// What a program does when it starts itself again, so that each subject has a process, and with it a heap and a peak, of its own: a
/// request
/// as JSON on the command line, a result as JSON on the output.
/// </summary>
public sealed class ChildTask<TRequest, TResult>(
    string name, JsonTypeInfo<TRequest> request, JsonTypeInfo<TResult> result, Func<TRequest, TResult> work) : IChildTask
{
    public bool TryServe(string[] arguments)
    {
        if (arguments is not [ChildProgram.Argument, var asked, var json] || asked != name)
        {
            return false;
        }

        ChildProgram.EndWithParent();
        Console.Out.Write(JsonSerializer.Serialize(work(JsonSerializer.Deserialize(json, request)!), result));
        return true;
    }

    /// <summary>
    /// Has a child do it. <paramref name="prepare"/> changes how the child is started; <paramref name="program"/> is another build of
    /// this program.
    /// </summary>
    /// <exception cref="ChildFailedException">It ended with another exit code than 0, wrote no result, or took too long.</exception>
    public TResult Run(TRequest what, Action<ProcessStartInfo>? prepare = null, string? program = null)
    {
        // Not the program that runs now: tests call this too.
        program ??= work.Method.Module.Assembly.Location;
        ProcessStartInfo start = ChildProgram.Describe(program, [ChildProgram.Argument, name, JsonSerializer.Serialize(what, request)]);
        prepare?.Invoke(start);
        string output = ChildProgram.Run(start);
        try
        {
            return JsonSerializer.Deserialize(output, result)!;
        }
        catch (JsonException)
        {
            throw new ChildFailedException($"it wrote \"{output.Trim()}\" instead of a result.");
        }
    }
}
