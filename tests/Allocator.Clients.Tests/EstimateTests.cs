using System.Globalization;
using System.Reflection;
using Allocator.Tests;
using Allocator.Tests.Documentation;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using SkiaSharp;

namespace Allocator.Clients.Tests;

/// <summary>The estimates of the guide for ASP.NET Core, from its page, with the real libraries: none copies a body to the heap.</summary>
[Collection(nameof(EstimateTests))]
public class EstimateTests
{
    private const string Guide = "docs/integrations/aspnetcore.md";
    private const int Width = 2600;
    private const int Height = 2000;

    [Theory]
    [InlineData("SkiaSharp", "")]
    [InlineData("libvips", "using NetVips;")]
    public async Task Estimate_OfALargeUpload_ReadsItsHeaderAndKeepsItOffTheHeap(string library, string usings)
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("Estimate-");
        string program = Path.Combine(folder.FullName, $"Estimate{library}.dll");
        try
        {
            CodeBlock block = new(Guide, 0, IsRun: false, Source(library, usings)) { IsWeb = true };
            Assert.Empty(ExampleCompiler.Compile(block, program));
            MethodInfo method = Assembly.LoadFrom(program).GetType("Estimate")!.GetMethod("Of")!;
            Func<HttpContext, MemoryAllocator, ValueTask<long>> estimate =
                method.CreateDelegate<Func<HttpContext, MemoryAllocator, ValueTask<long>>>();
            byte[] upload = Noise();

            // The first estimate loads the library.
            _ = await EstimateAsync(estimate, upload);
            (long reserved, long managed) = await EstimateAsync(estimate, upload);

            Assert.InRange(upload.Length, 5_000_000, 20_000_000);
            Assert.InRange(reserved, 4L * Width * Height, 12L * Width * Height + (32 << 20));
            Assert.InRange(managed, 0, upload.Length / 10);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static string Source(string library, string usings)
    {
        const string OfSkia = "allocator.EstimateBitmapBytes(context.Request.Body)";
        string page = File.ReadAllText(Repository.PathTo(Guide.Split('/')));
        Assert.Contains($"`{OfSkia}`", page, StringComparison.Ordinal);
        string[] lines =
        [
            .. page.Split('\n').SkipWhile(static line => !line.StartsWith("// libvips,", StringComparison.Ordinal)).Skip(1)
                .TakeWhile(static line => line.Length > 0 && !line.StartsWith("```", StringComparison.Ordinal)),
        ];
        if (library == "SkiaSharp")
        {
            // As the page says: one expression for that package.
            lines = [$"return new ValueTask<long>({OfSkia});"];
        }

        return $$"""
            using Allocator;
            using Allocator.AspNetCore;
            {{usings}}

            public static class Estimate
            {
                public static ValueTask<long> Of(HttpContext context, MemoryAllocator allocator)
                {
                    {{string.Join('\n', lines)}}
                }
            }
            """;
    }

    private static async Task<(long Reserved, long Managed)> EstimateAsync(
        Func<HttpContext, MemoryAllocator, ValueTask<long>> estimate, byte[] upload)
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Logging.ClearProviders();
        builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = 500);
        await using WebApplication app = builder.Build();
        MemoryAllocator allocator = app.Services.GetRequiredService<MemoryAllocator>();
        long managed = 0;
        app.MapPost("/", (HttpContext context) => context.GetMemoryReservation().ReservedBytes).RequireMemory(async context =>
        {
            long before = GC.GetTotalAllocatedBytes(precise: true);
            long bytes = await estimate(context, allocator);
            managed = GC.GetTotalAllocatedBytes(precise: true) - before;
            return bytes;
        });
        await app.StartAsync();
        using HttpClient client = new();
        using HttpResponseMessage response = await client.PostAsync(app.Urls.Single(), new ByteArrayContent(upload));
        string reserved = await response.EnsureSuccessStatusCode().Content.ReadAsStringAsync();
        return (long.Parse(reserved, CultureInfo.InvariantCulture), managed);
    }

    // Noise is what JPEG makes large files of.
    private static byte[] Noise()
    {
        using SKBitmap bitmap = new(Width, Height);
        new Random(1).NextBytes(bitmap.GetPixelSpan());
        using SKData data = bitmap.Encode(SKEncodedImageFormat.Jpeg, 100);
        return data.ToArray();
    }
}

/// <summary>What the whole process allocates is counted: nothing may run beside it.</summary>
[CollectionDefinition(nameof(EstimateTests), DisableParallelization = true)]
public class EstimateCollection;
