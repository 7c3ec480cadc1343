using System.Diagnostics;
using System.Globalization;
using Allocator.Tests.Documentation;
using Allocator.Tests.Limits;
using Measuring.Cgroups;
using Measuring.Machines;
using Measuring.Results;
using Xunit.Abstractions;

namespace Allocator.AspNetCore.Tests;

/// <summary>
/// The first lines of the guide, as printed, in a container of 350 MB under more uploads at once than it holds.
/// <c>ALLOCATOR_UPLOAD_ROUNDS</c> says how often 300 uploads come; without it fewer come, once. <c>ALLOCATOR_UPLOAD_RESULTS</c> names the
/// folder of a result file, to which each round is added: several portions make one result.
/// </summary>
public class GuideSurvivalTests(ITestOutputHelper output)
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
        Skip.If(s_rounds is null && hasHeapLimit != hasBudget, "Without ALLOCATOR_UPLOAD_ROUNDS neither limit or both are tried.");
        Example example = Example.OfTheGuide();
        if (hasBudget)
        {
            example = example.With(WithoutNumber, WithBudget);
        }

        await example.CompileAsync(async (program, folder) =>
        {
            for (int i = 0; i < Rounds; i++)
            {
                await SurviveAsync(program, folder, hasHeapLimit, hasBudget);
            }
        });
    }

    /// <summary>Of 100 KB to 13 MB, as they come, and as files of forms.</summary>
    [SkippableTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task FirstExample_Under64MixedUploads_ServesAll(bool isForm)
    {
        Example example = Example.OfTheGuide();
        if (isForm)
        {
            example = example.With("(HttpRequest request, ", "(IFormFile file, ").With("request.Body", "file.OpenReadStream()")
                .With(".RequireMemory()", ".DisableAntiforgery().RequireMemory()");
        }

        await example.CompileAsync(async (program, folder) =>
        {
            using MemoryCgroup group = TestCgroup.CreateOrSkip(Limit);
            using ListeningProgram running = ListeningProgram.Start(program, folder, group.Folder);
            long began = Stopwatch.GetTimestamp();
            int[] sizes = [100_000, 1_000_000, 5_000_000, UploadBytes];
            List<(HttpStatusCode Status, TimeSpan Elapsed)> answers =
                await UploadAsync(running.Address, Enumerable.Range(0, 64).Select(i => sizes[i % sizes.Length]), isForm);

            output.WriteLine(
                $"{string.Join(", ", answers.CountBy(static answer => answer.Status))}, {Stopwatch.GetElapsedTime(began)}");
            Assert.All(answers, static answer => Assert.Equal(HttpStatusCode.OK, answer.Status));
            Assert.Equal(0, group.Kills);
        });
    }

    private static async Task SurviveAsync(string program, string folder, bool hasHeapLimit, bool hasBudget)
    {
        using MemoryCgroup group = TestCgroup.CreateOrSkip(Limit);
        using ListeningProgram running = ListeningProgram.Start(program, folder, group.Folder, hasHeapLimit ? HeapLimit : null);
        List<(HttpStatusCode Status, TimeSpan Elapsed)> answers =
            await UploadAsync(running.Address, Enumerable.Repeat(UploadBytes, Uploads), isForm: false);
        Dictionary<HttpStatusCode, int> statuses = answers.CountBy(static answer => answer.Status).ToDictionary();

        Assert.Equal(0, group.Kills);
        Assert.False(running.HasExited);
        Assert.Equal(Uploads, statuses.Values.Sum());
        Assert.All(
            statuses.Keys,
            status => Assert.Contains(
                status, new[] { HttpStatusCode.OK, HttpStatusCode.ServiceUnavailable, HttpStatusCode.RequestEntityTooLarge }));
        Assert.True(statuses.GetValueOrDefault(HttpStatusCode.OK) > 0, "No upload was served.");
        if (Environment.GetEnvironmentVariable("ALLOCATOR_UPLOAD_RESULTS") is { } results)
        {
            Report(results, new Round(hasHeapLimit, hasBudget, (group.PeakBytes ?? 0) >> 20, answers));
        }
    }

    // The result file has each round, and the table of all of them made anew.
    private static void Report(string folder, Round round)
    {
        const string Program = "GuideUploads";
        string path = Path.Combine(folder, $"{Program}.json");
        ResultRow[] before = File.Exists(path) ? [.. ResultFile.Read(path).Tables[^1].Rows] : [];
        ResultRow[] rounds = [.. before.Append(round.ToRow()).OrderBy(row => string.Join('|', row.Labels), StringComparer.Ordinal)];
        ResultFile.Save(
            new ResultDocument
            {
                Program = Program,
                Title = "The first lines of the guide of ASP.NET Core under 300 uploads at once",
                Command = "dotnet test -c Release tests/Allocator.AspNetCore.Tests --filter FirstExample_UnderManyUploads",
                Date = DateTimeOffset.UtcNow,
                Machine = ThisMachine.Describe(),
                Tables =
                [
                    new ResultTable
                    {
                        Title = $"{Uploads} uploads of {UploadBytes / 1_000_000} MB at once, in a container of {Limit >> 20} MiB",
                        Labels = ["limit of the heap", "allocator"],
                        Columns =
                        [
                            new("rounds", null, "0"), new("alive", null, "0"), new("200, least", null, "0"),
                            new("200, median", null, "0"), new("503, most", null, "0"), new("413, most", null, "0"),
                            new("other", null, "0"), new("200 in 60 s, least", null, "0"), new("last answer, median", "s", "0.0"),
                            new("peak, most", "MiB", "0"),
                        ],
                        Rows = [.. rounds.GroupBy(row => (row.Labels[0], row.Labels[1])).Select(Sum)],
                    },
                    new ResultTable
                    {
                        Title = "Each round",
                        Labels = ["limit of the heap", "allocator"],
                        Columns =
                        [
                            new("200", null, "0"), new("503", null, "0"), new("413", null, "0"), new("other", null, "0"),
                            new("200 in 60 s", null, "0"), new("last answer", "s", "0.0"), new("peak", "MiB", "0"),
                        ],
                        Rows = rounds,
                    },
                ],
                Notes =
                [
                    "The program is the first example of the guide, compiled from the page, in a process and a memory cgroup of its own. "
                        + "A round in which the process is killed, or an answer is not 200, 503 or 413, fails and ends the run.",
                    "The limit of the heap is three quarters of the container, as .NET sets it in one. The client shares the machine. "
                        + "The peak is the kernel's, with cached files: the uploads themselves, in temporary files.",
                ],
            },
            folder);
    }

    private static ResultRow Sum(IGrouping<(string Heap, string Allocator), ResultRow> rounds)
    {
        double[] Of(int column) => [.. rounds.Select(row => row.Values[column]!.Value).Order()];
        return new ResultRow(
            [rounds.Key.Heap, rounds.Key.Allocator],
            [
                rounds.Count(), rounds.Count(), Of(0)[0], Of(0)[rounds.Count() / 2], Of(1)[^1], Of(2)[^1], Of(3)[^1], Of(4)[0],
                Of(5)[rounds.Count() / 2], Of(6)[^1],
            ]);
    }

    private static async Task<List<(HttpStatusCode Status, TimeSpan Elapsed)>> UploadAsync(
        Uri address, IEnumerable<int> sizes, bool isForm)
    {
        byte[] upload = new byte[UploadBytes];
        using HttpClient client = new(new SocketsHttpHandler { UseProxy = false }) { Timeout = TimeSpan.FromMinutes(5) };
        long began = Stopwatch.GetTimestamp();
        return [.. await Task.WhenAll(sizes.Select(async size =>
        {
            HttpContent content = new ByteArrayContent(upload, 0, size);
            if (isForm)
            {
                content = new MultipartFormDataContent { { content, "file", "photograph.jpg" } };
            }

            using HttpResponseMessage response = await client.PostAsync(new Uri(address, "/thumbnails"), content);
            return (response.StatusCode, Stopwatch.GetElapsedTime(began));
        }))];
    }

    /// <summary>The program of the guide's first block.</summary>
    private sealed record Example(CodeBlock Block)
    {
        public static Example OfTheGuide() => new(CodeBlock.All().Where(block => block.Document == Guide).MinBy(block => block.Line)!);

        public Example With(string old, string replacement)
        {
            int at = Block.Code.IndexOf(old, StringComparison.Ordinal);
            Assert.True(at >= 0, $"The first example of the guide has no {old}");
            return new(Block with { Code = Block.Code[..at] + replacement + Block.Code[(at + old.Length)..] });
        }

        public async Task CompileAsync(Func<string, string, Task> runAsync)
        {
            Assert.Contains("AddMemoryAllocator(", Block.Code, StringComparison.Ordinal);
            DirectoryInfo folder = Directory.CreateTempSubdirectory("Guide-");
            try
            {
                string program = Path.Combine(folder.FullName, "Guide.dll");
                Assert.Empty(ExampleCompiler.Compile(Block, program));
                await runAsync(program, folder.FullName);
            }
            finally
            {
                folder.Delete(recursive: true);
            }
        }
    }

    private sealed record Round(
        bool HasHeapLimit, bool HasBudget, long PeakMegabytes, List<(HttpStatusCode Status, TimeSpan Elapsed)> Answers)
    {
        public ResultRow ToRow()
        {
            int Count(HttpStatusCode status) => Answers.Count(answer => answer.Status == status);
            int[] known =
            [
                Count(HttpStatusCode.OK), Count(HttpStatusCode.ServiceUnavailable), Count(HttpStatusCode.RequestEntityTooLarge),
            ];
            int soon = Answers.Count(answer => answer.Status == HttpStatusCode.OK && answer.Elapsed <= s_reported);
            double last = Answers.Max(answer => answer.Elapsed).TotalSeconds;
            return new ResultRow(
                [HasHeapLimit ? "three quarters" : "none", HasBudget ? "budget of 170" : "no number"],
                [known[0], known[1], known[2], Answers.Count - known.Sum(), soon, last, PeakMegabytes]);
        }
    }
}
