using System.Globalization;
using System.Reflection;
using Allocator.Tests;
using Allocator.Tests.Documentation;

namespace Allocator.AspNetCore.Tests;

/// <summary>The program of <c>docs/learned.md</c>, which names no number, in a container whose kernel kills.</summary>
public class LearnedPageTests
{
    private const int AtOnce = 64;
    private const long Limit = 350L << 20;
    private const string Listening = "Now listening on: ";

    // Of 2, 8 and 15 megapixels: 10 to 75 MB each, and all at once more than 2 GB.
    private static readonly string[] s_sizes = ["1600x1200", "3840x2160", "5120x2880"];

    [SkippableFact]
    public void Program_OfThePageIn350Megabytes_ServesAllOf64AtOnce()
    {
        CodeBlock block = CodeBlock.All().Single(static block => block.Document == "docs/learned.md" && block.IsWeb);
        using LimitedGroup? group = LimitedGroup.TryCreate(out string reason);
        Skip.If(group is null, reason);
        group.LimitInBytes = Limit;
        ExampleCompiler.TryOut(block.Document, block.Line, (program, folder) => RunInGroup(program, folder, group.Folder));
    }

    private static void RunInGroup(string program, string folder, string group)
    {
        RemoteInvokeOptions options = new() { CheckExitCode = false };
        options.StartInfo.WorkingDirectory = folder;
        options.StartInfo.RedirectStandardOutput = true;
        options.StartInfo.Environment["ASPNETCORE_URLS"] = "http://127.0.0.1:0";
        options.StartInfo.Environment.Remove("ALLOCATOR_SAFETY");
        using RemoteInvokeHandle handle = RemoteExecutor.Invoke(
            static (path, group) =>
            {
                File.WriteAllText(Path.Combine(group, "cgroup.procs"), Environment.ProcessId.ToString(CultureInfo.InvariantCulture));
                Assembly.LoadFrom(path).EntryPoint!.Invoke(null, [Array.Empty<string>()]);
                return RemoteExecutor.SuccessExitCode;
            },
            program,
            group,
            options);
        try
        {
            string? address = null;
            bool isLimited = false;
            while (address is null && handle.Process.StandardOutput.ReadLine() is { } line)
            {
                isLimited |= line.Contains("70 of 350 MiB (ControlGroup) stay free", StringComparison.Ordinal);
                int start = line.IndexOf(Listening, StringComparison.Ordinal);
                address = start < 0 ? null : line[(start + Listening.Length)..].Trim();
            }

            Assert.True(isLimited, "The log says nothing of the limit.");
            _ = handle.Process.StandardOutput.ReadToEndAsync();
            using HttpClient client = new() { BaseAddress = new Uri(address!) };
            int first = CountServed(client);
            int second = CountServed(client);
            Assert.InRange(first, AtOnce * 97 / 100, AtOnce);
            Assert.Equal(AtOnce, second);
            Assert.False(handle.Process.HasExited);
        }
        finally
        {
            handle.Process.Kill();
            handle.Process.WaitForExit();
        }
    }

    private static int CountServed(HttpClient client)
    {
        int served = 0;
        Parallel.For(0, AtOnce, new ParallelOptions { MaxDegreeOfParallelism = AtOnce }, i =>
        {
            using HttpRequestMessage request = new(HttpMethod.Get, $"/thumbnails/{s_sizes[i % s_sizes.Length]}");
            using HttpResponseMessage response = client.Send(request);
            Interlocked.Add(ref served, response.IsSuccessStatusCode ? 1 : 0);
        });
        return served;
    }
}
