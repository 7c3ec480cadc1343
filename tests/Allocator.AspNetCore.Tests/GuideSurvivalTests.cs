using System.Diagnostics;
using System.Globalization;
using Allocator.Tests.Documentation;
using Allocator.Tests.Limits;
using Measuring.Cgroups;
using Xunit.Abstractions;

namespace Allocator.AspNetCore.Tests;

/// <summary>
/// The first lines of the guide, as printed, in a container of 350 MB under more uploads at once than it holds.
/// <c>ALLOCATOR_UPLOAD_ROUNDS</c> says how often 300 uploads come; without it fewer come, once.
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
            HttpStatusCode[] answers =
                await UploadAsync(running.Address, Enumerable.Range(0, 64).Select(i => sizes[i % sizes.Length]), isForm);

            output.WriteLine($"{string.Join(", ", answers.CountBy(static status => status))}, {Stopwatch.GetElapsedTime(began)}");
            Assert.All(answers, static status => Assert.Equal(HttpStatusCode.OK, status));
            Assert.Equal(0, group.Kills);
        });
    }

    private static async Task SurviveAsync(string program, string folder, bool hasHeapLimit, bool hasBudget)
    {
        using MemoryCgroup group = TestCgroup.CreateOrSkip(Limit);
        using ListeningProgram running = ListeningProgram.Start(program, folder, group.Folder, hasHeapLimit ? HeapLimit : null);
        HttpStatusCode[] answers = await UploadAsync(running.Address, Enumerable.Repeat(UploadBytes, Uploads), isForm: false);
        Dictionary<HttpStatusCode, int> statuses = answers.CountBy(static status => status).ToDictionary();

        Assert.Equal(0, group.Kills);
        Assert.False(running.HasExited);
        Assert.Equal(Uploads, statuses.Values.Sum());
        Assert.All(
            statuses.Keys,
            status => Assert.Contains(
                status, new[] { HttpStatusCode.OK, HttpStatusCode.ServiceUnavailable, HttpStatusCode.RequestEntityTooLarge }));
        Assert.True(statuses.GetValueOrDefault(HttpStatusCode.OK) > 0, "No upload was served.");
    }

    private static async Task<HttpStatusCode[]> UploadAsync(Uri address, IEnumerable<int> sizes, bool isForm)
    {
        byte[] upload = new byte[UploadBytes];
        using HttpClient client = new(new SocketsHttpHandler { UseProxy = false }) { Timeout = TimeSpan.FromMinutes(5) };
        return await Task.WhenAll(sizes.Select(async size =>
        {
            HttpContent content = new ByteArrayContent(upload, 0, size);
            if (isForm)
            {
                content = new MultipartFormDataContent { { content, "file", "photograph.jpg" } };
            }

            using HttpResponseMessage response = await client.PostAsync(new Uri(address, "/thumbnails"), content);
            return response.StatusCode;
        }));
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
}
