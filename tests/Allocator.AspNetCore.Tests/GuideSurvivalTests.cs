using System.Diagnostics;
using System.Globalization;
using System.Reflection;
using Allocator.Tests.Documentation;
using Measuring.Cgroups;
using Microsoft.DotNet.RemoteExecutor;

namespace Allocator.AspNetCore.Tests;

/// <summary>
/// The first lines of the guide, as printed, in a container of 350 MB under more uploads at once than it holds.
/// <c>ALLOCATOR_UPLOAD_ROUNDS</c> says how often 300 uploads come; without it fewer come, once.
/// </summary>
public class GuideSurvivalTests
{
    private const string Guide = "docs/integrations/aspnetcore.md";
    private const long Limit = 350L << 20;
    private const int UploadBytes = 13_000_000;

    private const string WithoutNumber = "AddMemoryAllocator();";
    private const string WithBudget = "AddMemoryAllocator(options => options.MemoryBudgetMegabytes = 170);";

    // What .NET takes of a container's limit by itself: three quarters.
    private const string HeapLimit = "0x10680000";

    // Of a run by hand: how many were served until then.
    private static readonly TimeSpan s_reported = TimeSpan.FromSeconds(60);

    private static readonly string? s_rounds = Environment.GetEnvironmentVariable("ALLOCATOR_UPLOAD_ROUNDS");

    private static int Rounds => s_rounds is null ? 1 : int.Parse(s_rounds, CultureInfo.InvariantCulture);

    private static int Uploads => s_rounds is null ? 60 : 300;

    [SkippableTheory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public async Task FirstExample_UnderManyUploads_AnswersEachAndStaysAlive(bool hasHeapLimit, bool hasBudget)
    {
        CodeBlock first = CodeBlock.All().Where(block => block.Document == Guide).MinBy(block => block.Line)!;
        Assert.Contains(WithoutNumber, first.Code, StringComparison.Ordinal);
        if (hasBudget)
        {
            first = first with { Code = ReplaceFirst(first.Code, WithoutNumber, WithBudget) };
        }

        DirectoryInfo folder = Directory.CreateTempSubdirectory("Guide-");
        try
        {
            string program = Path.Combine(folder.FullName, "Guide.dll");
            Assert.Empty(ExampleCompiler.Compile(first, program));
            for (int i = 0; i < Rounds; i++)
            {
                await SurviveAsync(program, folder.FullName, hasHeapLimit, hasBudget);
            }
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static async Task SurviveAsync(string program, string folder, bool hasHeapLimit, bool hasBudget)
    {
        using MemoryCgroup group = CreateOrSkip();
        RemoteInvokeOptions options = new() { CheckExitCode = false };
        options.StartInfo.WorkingDirectory = folder;
        options.StartInfo.RedirectStandardOutput = true;
        options.StartInfo.Environment["ASPNETCORE_URLS"] = "http://127.0.0.1:0";
        if (hasHeapLimit)
        {
            options.StartInfo.Environment["DOTNET_GCHeapHardLimit"] = HeapLimit;
        }

        using RemoteInvokeHandle handle = RemoteExecutor.Invoke(
            static (path, folder) =>
            {
                File.WriteAllText(
                    Path.Combine(folder, "cgroup.procs"), Environment.ProcessId.ToString(CultureInfo.InvariantCulture));
                Assembly.LoadFrom(path).EntryPoint!.Invoke(null, [Array.Empty<string>()]);
                return RemoteExecutor.SuccessExitCode;
            },
            program,
            group.Folder,
            options);
        try
        {
            Uri address = await ReadAddressAsync(handle.Process.StandardOutput);
            Task drained = handle.Process.StandardOutput.ReadToEndAsync();
            List<(HttpStatusCode Status, TimeSpan Elapsed)> answers = await UploadAsync(address);
            Dictionary<HttpStatusCode, int> statuses = answers.CountBy(static answer => answer.Status).ToDictionary();

            Assert.Equal(0, group.Kills);
            Assert.False(handle.Process.HasExited);
            Assert.Equal(Uploads, statuses.Values.Sum());
            Assert.All(
                statuses.Keys,
                status => Assert.Contains(
                    status, new[] { HttpStatusCode.OK, HttpStatusCode.ServiceUnavailable, HttpStatusCode.RequestEntityTooLarge }));
            Assert.True(statuses.GetValueOrDefault(HttpStatusCode.OK) > 0, "No upload was served.");
            Report(group, hasHeapLimit, hasBudget, answers, statuses);
        }
        finally
        {
            handle.Process.Kill();
        }
    }

    // For the notes of a run by hand.
    private static void Report(
        MemoryCgroup group,
        bool hasHeapLimit,
        bool hasBudget,
        List<(HttpStatusCode Status, TimeSpan Elapsed)> answers,
        Dictionary<HttpStatusCode, int> statuses)
    {
        string counts = string.Join(", ", statuses.OrderBy(pair => pair.Key).Select(pair => $"{pair.Value} × {(int)pair.Key}"));
        long peak = (group.PeakBytes ?? 0) >> 20;
        int served = answers.Count(answer => answer.Status == HttpStatusCode.OK && answer.Elapsed <= s_reported);
        TimeSpan last = answers.Max(answer => answer.Elapsed);
        string way = $"{(hasHeapLimit ? "heap limit" : "no heap limit")}, {(hasBudget ? "budget 170" : "no number")}";
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{way}: {counts}; {served} in {s_reported.TotalSeconds:0} s, last {last.TotalSeconds:0.0} s; peak {peak} MiB"));
    }

    private static string ReplaceFirst(string text, string old, string replacement)
    {
        int at = text.IndexOf(old, StringComparison.Ordinal);
        return text[..at] + replacement + text[(at + old.Length)..];
    }

    private static async Task<Uri> ReadAddressAsync(StreamReader output)
    {
        const string Listening = "Now listening on: ";
        while (await output.ReadLineAsync().WaitAsync(Patience.Limit) is { } line)
        {
            int at = line.IndexOf(Listening, StringComparison.Ordinal);
            if (at >= 0)
            {
                return new Uri(line[(at + Listening.Length)..].Trim());
            }
        }

        throw new InvalidOperationException("The application of the guide has ended.");
    }

    private static async Task<List<(HttpStatusCode Status, TimeSpan Elapsed)>> UploadAsync(Uri address)
    {
        byte[] upload = new byte[UploadBytes];
        using HttpClient client = new(new SocketsHttpHandler { UseProxy = false }) { Timeout = TimeSpan.FromMinutes(5) };
        long began = Stopwatch.GetTimestamp();
        return [.. await Task.WhenAll(Enumerable.Range(0, Uploads).Select(async _ =>
        {
            using HttpResponseMessage response = await client.PostAsync(new Uri(address, "/thumbnails"), new ByteArrayContent(upload));
            return (response.StatusCode, Stopwatch.GetElapsedTime(began));
        }))];
    }

    private static MemoryCgroup CreateOrSkip()
    {
        try
        {
            return MemoryCgroup.Create(Limit);
        }
        catch (CgroupUnavailableException exception)
        {
            throw new SkipException(exception.Message);
        }
    }
}
