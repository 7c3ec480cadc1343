namespace Measurements.Copies;

/// <summary>This program, started again for one kind of memory, with a heap that no other kind has shaped.</summary>
internal sealed class CopyProcess : IDisposable
{
    private readonly CopyKind _kind;
    private readonly Process _process;
    private readonly Task<string> _errors;

    /// <summary>Starts it.</summary>
    public CopyProcess(CopyKind kind)
    {
        _kind = kind;
        _process = ChildProgram.Start(
            ChildProgram.Describe(ChildProgram.ThisProgram, [ChildProgram.Argument, CopyBench.Name, kind.ToString()]));
        _errors = _process.StandardError.ReadToEndAsync();
    }

    /// <summary>Waits for its next line; the first says that it has started and warmed up.</summary>
    /// <exception cref="InvalidOperationException">The process ended instead; the message has what it wrote about that.</exception>
    public string Read() => _process.StandardOutput.ReadLine()
        ?? throw new InvalidOperationException($"{CopyKinds.Names[(int)_kind]}: {_errors.Result.Trim()}");

    /// <summary>Has it do a step, and waits for the end.</summary>
    public Trial Run(CopyStep step)
    {
        _process.StandardInput.WriteLine(step.ToLine());
        return Trial.Parse(Read());
    }

    public void Dispose()
    {
        _process.StandardInput.Close();
        _process.WaitForExit();
        _process.Dispose();
    }
}
