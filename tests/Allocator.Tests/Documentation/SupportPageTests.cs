using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Allocator.Tests.Documentation;

/// <summary>
/// Every row of the matrix in <c>docs/support.md</c> names a command, and each step in it is there; or the row says that nothing runs.
/// </summary>
public partial class SupportPageTests
{
    private static readonly string[][] s_rows =
    [
        .. File.ReadLines(Repository.PathTo("docs", "support.md"))
            .SkipWhile(static line => !line.StartsWith("| system", StringComparison.Ordinal))
            .TakeWhile(static line => line.StartsWith('|')).Skip(2)
            .Select(static line => line.Trim('|', ' ').Split(" | ")),
    ];

    [SkippableFact]
    public void Matrix_EachRow_NamesACommandWhoseStepsAreThere()
    {
        Skip.IfNot(File.Exists("/bin/bash"), "Needs bash.");
        HashSet<string> steps = ReadSteps();

        Assert.True(s_rows.Length > 10, $"{s_rows.Length} rows: the table was not found.");
        Assert.All(s_rows, row =>
        {
            Assert.Equal(6, row.Length);
            (string what, string command, string last) = (row[3], row[4], row[5]);
            Assert.Equal(what.StartsWith("nothing:", StringComparison.Ordinal), command == "none");
            Assert.Equal(command == "none", last == "never");
            string[] named = [.. Steps().Matches(command).SelectMany(static match => match.Groups["names"].Value.Split(' '))];
            Assert.True(command == "none" || named.Length > 0 || command == "`.ci/run`", command);
            Assert.All(named, name => Assert.Contains(name, steps));
        });
    }

    [SkippableFact]
    public void Step_ThatIsNotThere_IsRefusedByName()
    {
        Skip.IfNot(File.Exists("/bin/bash"), "Needs bash.");

        (int code, string output) = RunNightly("--step", "no-such-step");

        Assert.Equal(2, code);
        Assert.Contains("no-such-step", output, StringComparison.Ordinal);
    }

    private static HashSet<string> ReadSteps()
    {
        (int code, string output) = RunNightly("--list");
        Assert.Equal(0, code);
        return [.. output.Split('\n', StringSplitOptions.RemoveEmptyEntries)];
    }

    private static (int Code, string Output) RunNightly(params string[] arguments)
    {
        ProcessStartInfo start = new("/bin/bash", [Repository.PathTo(".ci", "nightly"), .. arguments])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using Process nightly = Process.Start(start)!;
        Task<string> errors = nightly.StandardError.ReadToEndAsync();
        string output = nightly.StandardOutput.ReadToEnd();
        nightly.WaitForExit();
        return (nightly.ExitCode, output + errors.Result);
    }

    [GeneratedRegex("`\\.ci/nightly --step (?<names>[^`]+)`")]
    private static partial Regex Steps();
}
