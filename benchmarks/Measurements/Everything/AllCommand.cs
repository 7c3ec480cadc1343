namespace Measurements.Everything;

/// <summary>
/// Makes all results of this machine, in one folder. A part whose result was measured with the same sources is kept, so that an
/// interrupted run goes on where it was.
/// </summary>
internal static class AllCommand
{
    // A quick part is a tenth of a minute of work and the start of a program.
    private const double QuickMinutes = 0.5;

    private static readonly string s_results = Path.Combine("benchmarks", "results");
    private static readonly string s_logs = Path.Combine("artifacts", "results", "logs");

    private static readonly Option<string[]> s_only = new Option<string[]>("--only")
    {
        Description = "Parts to make; all unless given.",
        AllowMultipleArgumentsPerToken = true,
        DefaultValueFactory = _ => [],
    }.AcceptOnlyFromAmong([.. ResultPart.All.Select(part => part.Name)]);

    private static readonly Option<double> s_within = new Option<double>("--within")
    {
        Description = "Minutes: no part is begun that is expected to take longer than what is left of them.",
        DefaultValueFactory = _ => double.PositiveInfinity,
    }.AtLeast(0);

    private static readonly Option<bool> s_quick = new("--quick")
    {
        Description = "Every part briefly, to see that it works; the figures are noise.",
    };

    private static readonly Option<DirectoryInfo?> s_output = new("--output")
    {
        Description = "Where the result files go; benchmarks/results/<processor> unless given, and a folder below artifacts for --quick.",
    };

    public static Command Create()
    {
        Command command = new(
            "all", "Makes all results of this machine in one folder; goes on where it was interrupted, and ends with the report.")
        {
            s_only, s_within, s_quick, s_output,
        };
        command.SetAction(RunAsync);
        return command;
    }

    private static async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        IAnsiConsole console = ResultConsole.Create();
        bool isQuick = parsed.GetValue(s_quick);
        string usual = MeasurementCommand.UsualFolder;
        string folder = parsed.GetValue(s_output)?.FullName
            ?? Path.GetFullPath(isQuick ? usual : Path.Combine(s_results, Path.GetFileName(usual)));
        string[] only = parsed.GetRequiredValue(s_only);
        ResultPart[] wanted = [.. ResultPart.All.Where(part => only.Length == 0 || only.Contains(part.Name))];
        ResultPart[] left = [.. wanted.Where(part => !IsMeasured(part, folder))];
        double Estimate(ResultPart part) => isQuick ? QuickMinutes : Read(part, folder)?.Minutes ?? part.Minutes;

        console.WriteLine($"{MachineText.Describe(ThisMachine.Describe())}; commit {ThisCommit.Name ?? "unknown"}");
        console.WriteLine($"results: {folder}");
        console.WriteLine(
            $"{wanted.Length - left.Length} of {wanted.Length} parts are measured; the others take {Duration(left.Sum(Estimate))}");
        Stopwatch clock = Stopwatch.StartNew();
        bool hasFailed = false;
        for (int i = 0; i < left.Length && !cancellationToken.IsCancellationRequested; i++)
        {
            ResultPart part = left[i];
            double estimate = Estimate(part);
            if (clock.Elapsed.TotalMinutes + estimate > parsed.GetValue(s_within))
            {
                console.WriteLine($"{part.Name}: left for another time, it takes {Duration(estimate)}");
                continue;
            }

            console.WriteLine(Invariant($"[{i + 1} of {left.Length}] {DateTime.UtcNow:HH:mm} UTC {part.Name}: ")
                + $"about {Duration(estimate)}, then {Duration(left.Skip(i + 1).Sum(Estimate))} to go");
            string log = Path.Combine(s_logs, part.Name + ".log");
            int exitCode = await RunAsync(part, folder, isQuick, log, cancellationToken);
            console.WriteLine(exitCode == 0 ? "    done" : $"    failed with exit code {exitCode}, see {log}");
            hasFailed |= exitCode != 0;
        }

        foreach (ResultPart part in wanted.Where(part => !IsMeasured(part, folder)))
        {
            console.WriteLine($"to be measured yet: {part.Name}");
        }

        string results = Path.GetFullPath(s_results);
        bool isReported = !folder.StartsWith(results, StringComparison.Ordinal)
            || ReportCommand.Run(results, console, Environment.CurrentDirectory) == 0;
        return !hasFailed && isReported ? 0 : 1;
    }

    // What a part prints is kept in its log.
    private static async Task<int> RunAsync(
        ResultPart part, string folder, bool isQuick, string log, CancellationToken cancellationToken)
    {
#if DEBUG
        bool isBuilt = false;
#else
        // This program and what it refers to were built to be run, and are not to be replaced while they run.
        bool isBuilt = part.Project is "Measurements" or "LoadResizeSave";
#endif
        string[] arguments =
        [
            "run", .. isBuilt ? (string[])["--no-build"] : [], "--configuration", "Release", "--project", $"benchmarks/{part.Project}",
            "--", .. part.Arguments, "--output", Path.GetRelativePath(Environment.CurrentDirectory, folder),
            .. isQuick ? (string[])["--quick"] : [],
        ];
        _ = Directory.CreateDirectory(s_logs);
        string dotnet = Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet";
        using Process child = ChildProgram.Start(new ProcessStartInfo(dotnet, arguments));
        child.StandardInput.Close();
        await using FileStream file = File.Create(log);
        try
        {
            // One after the other would stop a child that fills the second pipe.
            using MemoryStream errors = new();
            await Task.WhenAll(
                child.StandardOutput.BaseStream.CopyToAsync(file, cancellationToken),
                child.StandardError.BaseStream.CopyToAsync(errors, cancellationToken));
            await child.WaitForExitAsync(cancellationToken);
            errors.WriteTo(file);
            return child.ExitCode;
        }
        catch (OperationCanceledException)
        {
            child.Kill(entireProcessTree: true);
            return 130;
        }
    }

    private static bool IsMeasured(ResultPart part, string folder)
        => Read(part, folder) is { Commit: { } commit } result && part.IsMadeAsHere(result)
            && ThisCommit.IsUnchangedSince(commit, part.Sources);

    private static ResultDocument? Read(ResultPart part, string folder)
    {
        string file = Path.Combine(folder, part.Result + ".json");
        try
        {
            return File.Exists(file) ? ResultFile.Read(file) : null;
        }
        catch (InvalidDataException)
        {
            // A damaged one is made anew.
            return null;
        }
    }

    private static string Duration(double minutes)
        => minutes < 1 ? "less than a minute" : minutes < 90 ? Invariant($"{minutes:0} minutes") : Invariant($"{minutes / 60:0.#} hours");
}
