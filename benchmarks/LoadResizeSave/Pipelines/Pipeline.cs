using ImageMagick;
using OpenCvSharp;
using SixLabors.ImageSharp;
using SixLabors.ImageSharp.Formats.Jpeg;
using SixLabors.ImageSharp.Processing;
using SkiaSharp;

namespace LoadResizeSave.Pipelines;

/// <summary>
/// A library that a user would pick for the whole job, used as its own documentation shows: a file is decoded, resized and saved as JPEG.
/// </summary>
/// <param name="Run">Reads the file at the first path and writes the result to the second.</param>
/// <param name="Release">Releases what the library keeps for later, if it has a call for that.</param>
/// <param name="Claim">What this library claims for it in a container; null for other libraries by themselves.</param>
internal sealed record Pipeline(
    string Name, string Title, Func<string, string, ValueTask> Run, Action? Release = null, SurvivalClaim? Claim = null)
    : ComparedWay(Name, Title, Claim)
{
    /// <summary>The width and height that no result exceeds.</summary>
    public const int Side = 800;

    private const int Quality = 85;

    // What ResizeBitmap and the encoder take beside the decoded picture of 15 megapixels.
    private const long WorkingBytes = 28_000_000;

    private static readonly SurvivalClaim s_claim = new(1, MayFail: false);
    private static readonly SKSamplingOptions s_sampling = new(SKFilterMode.Linear, SKMipmapMode.Linear);

    // Made when a pipeline of this library first asks for them: the processes of the others have none.
    private static MemoryAllocator? s_allocator;
    private static Configuration? s_imageSharp;

    private static readonly Pipeline[] s_byThemselves =
    [
        new("skia", "SkiaSharp", Synchronous(RunSkia), SKGraphics.PurgeAllCaches),
        new("vips-thumbnail", "NetVips, Thumbnail", Synchronous(RunVipsThumbnail), ReleaseVips) { Shrinks = true },
        new("vips-resize", "NetVips, Resize", Synchronous(RunVipsResize), ReleaseVips),
        new("opencv", "OpenCvSharp", Synchronous(RunOpenCv)),
        new("magick", "Magick.NET", Synchronous(RunMagick)),
        new("imagesharp", "ImageSharp 2.1", Synchronous(RunImageSharp), ReleaseImageSharp),
    ];

    public static IReadOnlyList<Pipeline> All { get; } =
    [
        .. s_byThemselves,
        .. s_byThemselves.Select(AsJob),
        new("pooled", "Allocator.SkiaSharp", RunPooledAsync, ReleasePooled, s_claim),
        new("pooled-shrink", "Allocator.SkiaSharp, LargestSize", RunPooledShrinkingAsync, ReleasePooled, s_claim) { Shrinks = true },
        new("pooled-imagesharp", "Allocator.ImageSharp", RunPooledImageSharpAsync, ReleasePooled, s_claim),
    ];

    /// <summary>Gets whether the codec shrinks while it decodes, so that the whole picture is never in memory.</summary>
    public bool Shrinks { get; private init; }

    /// <summary>Gets the name of the pipeline that this one runs as a job; null if it runs by itself.</summary>
    public string? JobOf { get; private init; }

    private static MemoryAllocator Memory => s_allocator ??= MemoryAllocator.Default;

    public static Pipeline Get(string name) => All.First(pipeline => pipeline.Name == name);

    /// <summary>
    /// Makes the allocator that this library's pipelines use: with what <c>AddMemoryAllocator</c> sets if it is given no number.
    /// </summary>
    public static void UseAllocator(int limitMegabytes)
    {
        s_allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MinimumFreeMegabytes = limitMegabytes > 0
                ? MemoryWay.DefaultFree(limitMegabytes)
                : (int)(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 10 >> 20),
        });
        s_imageSharp = null;
    }

    // The library is the same and unchanged: it only begins when its job is admitted, by the size that the header lets expect.
    private static Pipeline AsJob(Pipeline pipeline) => pipeline with
    {
        Name = pipeline.Name + "-job",
        Title = pipeline.Title + ", as a job",
        JobOf = pipeline.Name,
        Claim = s_claim,
        Run = async (source, target) =>
        {
            using MemoryReservation job = await ReserveAsync(pipeline.Name, source);
            using (job.Use())
            {
                await pipeline.Run(source, target);
            }
        },
        Release = () =>
        {
            pipeline.Release?.Invoke();
            ReleasePooled();
        },
    };

    private static ValueTask<MemoryReservation> ReserveAsync(string name, string source)
    {
        using FileStream file = File.OpenRead(source);
        return PictureHeader.TryRead(file, out PictureHeader header)
            ? Memory.ReserveAsync(name, header.ExpectedBytes)
            : Memory.ReserveAsync(name);
    }

    private static Configuration Configure(MemoryAllocator allocator)
    {
        Configuration configuration = Configuration.Default.Clone();
        configuration.MemoryAllocator = new ImageSharpAllocator(allocator);
        return configuration;
    }

    private static Func<string, string, ValueTask> Synchronous(Action<string, string> run) => (source, target) =>
    {
        run(source, target);
        return ValueTask.CompletedTask;
    };

    private static void RunSkia(string source, string target)
    {
        using SKBitmap picture = SKBitmap.Decode(source) ?? throw new UnreadablePictureException($"Skia does not read {source}.");
        using SKBitmap small = picture.Resize(Fit(picture.Width, picture.Height), s_sampling);
        using SKImage image = SKImage.FromBitmap(small);
        using SKData encoded = image.Encode(SKEncodedImageFormat.Jpeg, Quality);
        using FileStream file = File.Create(target);
        encoded.SaveTo(file);
    }

    private static void RunVipsThumbnail(string source, string target)
    {
        using NetVips.Image small = NetVips.Image.Thumbnail(source, Side, size: NetVips.Enums.Size.Down);
        small.Jpegsave(target, q: Quality);
    }

    private static void RunVipsResize(string source, string target)
    {
        using NetVips.Image picture = NetVips.Image.NewFromFile(source, access: NetVips.Enums.Access.Sequential);
        using NetVips.Image small = picture.Resize((double)Fit(picture.Width, picture.Height).Width / picture.Width);
        small.Jpegsave(target, q: Quality);
    }

    private static void RunOpenCv(string source, string target)
    {
        using Mat picture = Cv2.ImRead(source);
        using Mat small = new();
        SKSizeI size = Fit(picture.Width, picture.Height);
        Cv2.Resize(picture, small, new OpenCvSharp.Size(size.Width, size.Height), interpolation: InterpolationFlags.Area);
        if (!Cv2.ImWrite(target, small, new ImageEncodingParam(ImwriteFlags.JpegQuality, Quality)))
        {
            throw new IOException($"OpenCV did not write {target}.");
        }
    }

    private static void RunMagick(string source, string target)
    {
        using MagickImage picture = new(source);
        picture.Resize(new MagickGeometry(Side, Side) { Greater = true });
        picture.Quality = Quality;
        picture.Write(target, MagickFormat.Jpeg);
    }

    private static void RunImageSharp(string source, string target) => RunImageSharp(Configuration.Default, source, target);

    private static void RunImageSharp(Configuration configuration, string source, string target)
    {
        using SixLabors.ImageSharp.Image picture = SixLabors.ImageSharp.Image.Load(configuration, source);
        SKSizeI size = Fit(picture.Width, picture.Height);
        picture.Mutate(context => context.Resize(size.Width, size.Height));
        picture.SaveAsJpeg(target, new JpegEncoder { Quality = Quality });
    }

    private static async ValueTask RunPooledAsync(string source, string target)
    {
        await using FileStream file = File.OpenRead(source);
        using PooledBitmap picture = await Memory.DecodeBitmapAsync(file, new SKBitmapDecodeOptions { WorkingBytes = WorkingBytes });
        using PooledBitmap small = picture.Allocator.ResizeBitmap(picture, Fit(picture.Width, picture.Height), s_sampling);
        await using FileStream saved = File.Create(target);
        small.Encode(saved, SKEncodedImageFormat.Jpeg, Quality);
    }

    private static async ValueTask RunPooledShrinkingAsync(string source, string target)
    {
        await using FileStream file = File.OpenRead(source);
        SKBitmapDecodeOptions options = new() { LargestSize = new SKSizeI(Side, Side), WorkingBytes = 1_000_000 };
        using PooledBitmap small = await Memory.DecodeBitmapAsync(file, options);
        await using FileStream saved = File.Create(target);
        small.Encode(saved, SKEncodedImageFormat.Jpeg, Quality);
    }

    // ImageSharp has one allocator and knows no jobs: the job is ambient, and what it needs is learned.
    private static async ValueTask RunPooledImageSharpAsync(string source, string target)
    {
        using MemoryReservation job = await Memory.ReserveAsync("photograph");
        using (job.Use())
        {
            RunImageSharp(s_imageSharp ??= Configure(Memory), source, target);
        }
    }

    private static void ReleaseImageSharp() => Configuration.Default.MemoryAllocator.ReleaseRetainedResources();

    private static void ReleasePooled() => Memory.ReleaseRetainedResources();

    private static void ReleaseVips() => NetVips.Cache.Max = 0;

    private static SKSizeI Fit(int width, int height)
    {
        double scale = Math.Min(1, (double)Side / Math.Max(width, height));
        return new SKSizeI(Math.Max(1, (int)Math.Round(width * scale)), Math.Max(1, (int)Math.Round(height * scale)));
    }
}
