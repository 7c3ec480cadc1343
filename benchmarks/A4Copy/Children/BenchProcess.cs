using System;
using System.Diagnostics;
using System.IO;
using System.Threading.Tasks;
using A4Copy.Buffers;
using A4Copy.Trials;

namespace A4Copy.Children;

/// <summary>This program, started again for one kind of memory: it does a step for each line that it is sent, and answers with the trial.</summary>
internal sealed class BenchProcess : IDisposable
{
    /// <summary>The argument that makes the program such a process; the kind of memory follows.</summary>
    public const string Argument = "--child";

    private const string Ready = "ready";

    private readonly MemoryKind _kind;
    private readonly Process _process;
    private readonly Task<string> _errors;

    private BenchProcess(MemoryKind kind, Process process)
    {
        _kind = kind;
        _process = process;
        _errors = process.StandardError.ReadToEndAsync();
    }

    /// <summary>Starts it.</summary>
    public static BenchProcess Start(MemoryKind kind)
    {
        string program = Environment.ProcessPath ?? throw new InvalidOperationException("The system does not tell this program's path.");
        ProcessStartInfo start = new(program) { RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true };

        // Started as "dotnet A4Copy.dll", the process is the host, and wants to be told what to run.
        if (Path.GetFileNameWithoutExtension(program).Equals("dotnet", StringComparison.OrdinalIgnoreCase))
        {
            start.ArgumentList.Add(typeof(BenchProcess).Assembly.Location);
        }

        start.ArgumentList.Add(Argument);
        start.ArgumentList.Add(kind.ToString());
        return new BenchProcess(kind, Process.Start(start) ?? throw new InvalidOperationException($"{program} could not be started."));
    }

    /// <summary>What the process does: ends when its input does, and so with its parent.</summary>
    public static void Work(MemoryKind kind, TextReader input, TextWriter output)
    {
        TrialBench bench = new(kind);
        output.WriteLine(Ready);
        while (input.ReadLine() is { } line)
        {
            output.WriteLine(bench.Run(TrialStep.Parse(line)).ToLine());
        }
    }

    /// <summary>Waits until it has started and warmed up.</summary>
    public void WaitUntilReady() => _ = Read();

    /// <summary>Has it do a step, and waits for the end.</summary>
    /// <exception cref="InvalidOperationException">The process ended instead; the message has what it wrote about that.</exception>
    public Trial Run(TrialStep step)
    {
        _process.StandardInput.WriteLine(step.ToLine());
        return Trial.Parse(Read());
    }

    /// <summary>Ends it.</summary>
    public void Dispose()
    {
        _process.StandardInput.Close();
        _process.WaitForExit();
        _process.Dispose();
    }

    private string Read()
        => _process.StandardOutput.ReadLine() ?? throw new InvalidOperationException($"{BufferSource.Name(_kind)}: {_errors.Result.Trim()}");
}
