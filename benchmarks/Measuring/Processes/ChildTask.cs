using System.Text.Json.Serialization.Metadata;

namespace Measuring.Processes;

/// <summary>A task that a program does when it was started by itself.</summary>
public interface IChildTask
{
    /// <summary>Does what <paramref name="arguments"/> ask for, or returns false where they are not for this task.</summary>
    bool TryServe(string[] arguments);
}

/// <summary>How a child ended.</summary>
/// <param name="Errors">What it wrote beside its messages.</param>
public sealed record ChildEnd(int ExitCode, string Errors);

/// <summary>
/// What a program does when it starts itself again, so that each subject has a process, and with it a heap and a peak, of its own: a
/// request as JSON on the command line, messages on the output, each a line of JSON; of many tasks the only message is the result.
/// </summary>
public sealed class ChildTask<TRequest, TMessage>(
    string name, JsonTypeInfo<TRequest> request, JsonTypeInfo<TMessage> message, Action<TRequest, Action<TMessage>> work) : IChildTask
{
    public ChildTask(string name, JsonTypeInfo<TRequest> request, JsonTypeInfo<TMessage> result, Func<TRequest, TMessage> work)
        : this(name, request, result, (what, send) => send(work(what)))
    {
    }

    public bool TryServe(string[] arguments)
    {
        if (arguments is not [ChildProgram.Argument, var asked, var json] || asked != name)
        {
            return false;
        }

        ChildProgram.EndWithParent();
        TextWriter parent = Console.Out;
        work(JsonSerializer.Deserialize(json, request)!, one =>
        {
            parent.WriteLine(JsonSerializer.Serialize(one, message));
            parent.Flush();
        });
        return true;
    }

    /// <summary>
    /// Returns the start of a child that does it; <paramref name="program"/> is another build of this program. It is not the program that
    /// runs now: tests start children too.
    /// </summary>
    public ProcessStartInfo Describe(TRequest what, string? program = null) => ChildProgram.Describe(
        program ?? typeof(TMessage).Assembly.Location, ChildProgram.Argument, name, JsonSerializer.Serialize(what, request));

    /// <summary>Has a child do it. <paramref name="prepare"/> changes how the child is started.</summary>
    public TMessage Run(TRequest what, Action<ProcessStartInfo>? prepare = null, string? program = null)
    {
        ProcessStartInfo start = Describe(what, program);
        prepare?.Invoke(start);
        string output = ChildProgram.Run(start);
        try
        {
            return JsonSerializer.Deserialize(output, message)!;
        }
        catch (JsonException)
        {
            throw new ChildFailedException($"it wrote \"{output.Trim()}\" instead of a result.");
        }
    }

    /// <summary>Passes on the messages of a child until it has ended, which it does when the token says so.</summary>
    public async Task<ChildEnd> FollowAsync(Process child, Action<TMessage> onMessage, CancellationToken cancellationToken)
    {
        await using CancellationTokenRegistration registration = cancellationToken.Register(() => child.Kill(entireProcessTree: true));
        Task<string> errors = child.StandardError.ReadToEndAsync(CancellationToken.None);
        StringBuilder unexpected = new();
        while (await child.StandardOutput.ReadLineAsync(CancellationToken.None) is { } line)
        {
            try
            {
                onMessage(JsonSerializer.Deserialize(line, message)!);
            }
            catch (JsonException)
            {
                // A process that is killed may leave half a line.
                _ = unexpected.AppendLine(line);
            }
        }

        await child.WaitForExitAsync(CancellationToken.None);
        return new ChildEnd(child.ExitCode, $"{unexpected}{await errors}".Trim());
    }
}
