using Allocator.Tests.Documentation;
using Allocator.Tests.Limits;
using Measuring.Cgroups;

namespace Allocator.AspNetCore.Tests;

/// <summary>The program of <c>docs/jobs.md</c>, which names no number, in a container whose kernel kills.</summary>
public class JobsPageTests
{
    private const int AtOnce = 64;
    private const long Limit = 350L << 20;

    // Of 2, 8 and 15 megapixels: 10 to 75 MB each, and all at once more than 2 GB.
    private static readonly string[] s_sizes = ["1600x1200", "3840x2160", "5120x2880"];

    [SkippableFact]
    public void Program_OfThePageIn350Megabytes_ServesAllOf64AtOnce()
    {
        CodeBlock block = CodeBlock.All().Single(static block => block.Document == "docs/jobs.md" && block.IsWeb);
        using MemoryCgroup group = TestCgroup.CreateOrSkip(Limit);
        ExampleCompiler.TryOut(block.Document, block.Line, (program, folder) => RunInGroup(program, folder, group.Folder));
    }

    private static void RunInGroup(string program, string folder, string group)
    {
        using ListeningProgram running = ListeningProgram.Start(program, folder, group);
        Assert.Contains("70 of 350 MiB (ControlGroup) stay free", running.Printed, StringComparison.Ordinal);
        using HttpClient client = new() { BaseAddress = running.Address };
        int first = CountServed(client);
        int second = CountServed(client);
        Assert.InRange(first, AtOnce * 97 / 100, AtOnce);
        Assert.Equal(AtOnce, second);
        Assert.False(running.HasExited);
    }

    private static int CountServed(HttpClient client)
    {
        // Not by threads of the pool, of which there are two at first: the requests have to be there at once.
        IEnumerable<Task<bool>> requests = Enumerable.Range(0, AtOnce).Select(i => IsServedAsync(client, s_sizes[i % s_sizes.Length]));
        return Task.WhenAll(requests).GetAwaiter().GetResult().Count(static isServed => isServed);
    }

    private static async Task<bool> IsServedAsync(HttpClient client, string size)
    {
        using HttpResponseMessage response = await client.GetAsync($"/thumbnails/{size}");
        return response.IsSuccessStatusCode;
    }
}
