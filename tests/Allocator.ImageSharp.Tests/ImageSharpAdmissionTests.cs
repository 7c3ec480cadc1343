using System.Globalization;
using Allocator.AspNetCore;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using SixLabors.ImageSharp;
using SixLabors.ImageSharp.Formats;
using SixLabors.ImageSharp.Formats.Jpeg;
using SixLabors.ImageSharp.Formats.Tga;
using SixLabors.ImageSharp.Formats.Tiff;
using SixLabors.ImageSharp.Formats.Webp;
using SixLabors.ImageSharp.Memory;
using SixLabors.ImageSharp.Metadata;
using SixLabors.ImageSharp.Web.Commands;
using SixLabors.ImageSharp.Web.Middleware;
using SixLabors.ImageSharp.Web.Processors;
using SixLabors.ImageSharp.Web.Providers;
using SixLabors.ImageSharp.Web.Resolvers;
using Pool = Allocator.MemoryAllocator;

namespace Allocator.ImageSharp.Tests;

/// <summary>
/// What the package's admission reserves and when it ends, with images that only say what they are: see the declarations.
/// </summary>
public class ImageSharpAdmissionTests
{
    private const int Block = 4 << 20;
    private const int Width = 5120;
    private const int Height = 2880;
    private const int FileLength = 6_000_000;

    // Working bytes of an image of that width.
    private const long Working = 8 << 20;

    // Only a test that fails waits for as long.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Fact]
    public void EstimateBytes_BaselineJpeg_IsPixelsFileAndRows()
    {
        using Pool pool = Pool.Create();
        long expected = pool.EstimatePixelBytes(Width, Height, 3) + pool.EstimateBytes(FileLength) + Working;
        Assert.Equal(expected, ImageSharpAdmission.EstimateBytes(pool, Jpeg(), FileLength));
    }

    [Fact]
    public void EstimateBytes_FileThatIsNotCopied_IsLessByTheFile()
    {
        using Pool pool = Pool.Create();
        Assert.Equal(
            ImageSharpAdmission.EstimateBytes(pool, Jpeg(), FileLength) - pool.EstimateBytes(FileLength),
            ImageSharpAdmission.EstimateBytes(pool, Jpeg(), 0));
    }

    /// <summary>Measured with ImageSharp 3.1.12: 150 MB for 5120 x 2880.</summary>
    [Fact]
    public void EstimateBytes_ProgressiveJpeg_CoversWhatWasMeasured()
    {
        using Pool pool = Pool.Create();
        Assert.InRange(
            ImageSharpAdmission.EstimateBytes(pool, Jpeg(JpegEncodingColor.YCbCrRatio444), FileLength),
            150_000_000,
            180_000_000);
    }

    [Theory]
    [InlineData(JpegEncodingColor.YCbCrRatio420, 24, 3)]
    [InlineData(JpegEncodingColor.YCbCrRatio444, 24, 6)]
    [InlineData(JpegEncodingColor.YCbCrRatio444, 8, 6)]
    [InlineData(JpegEncodingColor.Cmyk, 32, 8)]
    public void EstimateBytes_ProgressiveJpeg_AddsTwoBytesASample(JpegEncodingColor colour, int bitsPerPixel, int bytes)
    {
        using Pool pool = Pool.Create();
        long baseline = ImageSharpAdmission.EstimateBytes(pool, Jpeg(null, bitsPerPixel), FileLength);
        long coefficients = ImageSharpAdmission.EstimateBytes(pool, Jpeg(colour, bitsPerPixel), FileLength) - baseline;
        Assert.Equal(pool.EstimatePixelBytes(Width, Height, bytes) + Working, coefficients);
    }

    /// <summary>Coefficients lie in whole units: one column of pixels takes that of 16 or 32.</summary>
    [Fact]
    public void EstimateBytes_NarrowProgressiveJpeg_CountsWholeUnits()
    {
        using Pool pool = Pool.Create();
        long estimate = ImageSharpAdmission.EstimateBytes(
            pool,
            Info(1, 60_000, new JpegFormat(), 24, progressive: JpegEncodingColor.YCbCrRatio444),
            0);
        Assert.InRange(estimate, 32 * 60_000 * 6, long.MaxValue);
    }

    [Theory]
    [InlineData(8, 4)]
    [InlineData(24, 4)]
    [InlineData(32, 4)]
    [InlineData(48, 6)]
    [InlineData(64, 8)]
    public void EstimateBytes_OtherFormats_AreAtLeastFourBytesAPixel(int bitsPerPixel, int bytes)
    {
        using Pool pool = Pool.Create();
        Assert.Equal(
            pool.EstimatePixelBytes(Width, Height, bytes) + Working,
            ImageSharpAdmission.EstimateBytes(pool, Info(Width, Height, null, bitsPerPixel), 0));
    }

    [Fact]
    public void EstimateBytes_PixelTypeOfTheCaller_Counts()
    {
        using Pool pool = Pool.Create();
        Assert.Equal(
            pool.EstimatePixelBytes(Width, Height, 16) + Working,
            ImageSharpAdmission.EstimateBytes(pool, Jpeg(), 0, bytesPerPixel: 16));
    }

    [Fact]
    public void EstimateBytes_SeveralFrames_CountsEach()
    {
        using Pool pool = Pool.Create();
        ImageInfo animation = Info(2000, 2000, null, 8, frames: 10);
        Assert.Equal(pool.EstimatePixelBytes(2000, 2000, 4, 10) + Working, ImageSharpAdmission.EstimateBytes(pool, animation, 0));
        Assert.Equal(
            pool.EstimatePixelBytes(2000, 2000, 4, 3) + Working,
            ImageSharpAdmission.EstimateBytes(pool, animation, 0, maximumFrames: 3));
        Assert.Equal(
            pool.EstimatePixelBytes(2000, 2000, 4, 6) + Working,
            ImageSharpAdmission.EstimateBytes(pool, animation, 0, liveCopies: 2, maximumFrames: 3));
    }

    /// <summary>File and coefficients are gone when the copy is made.</summary>
    [Fact]
    public void EstimateBytes_CopyOfTheSameSize_IsTheLargerOfDecodingAndProcessing()
    {
        using Pool pool = Pool.Create();
        long progressive = ImageSharpAdmission.EstimateBytes(pool, Jpeg(JpegEncodingColor.YCbCrRatio444), FileLength);
        Assert.Equal(
            progressive,
            ImageSharpAdmission.EstimateBytes(pool, Jpeg(JpegEncodingColor.YCbCrRatio444), FileLength, liveCopies: 2));
        Assert.Equal(
            pool.EstimatePixelBytes(Width, Height, 3, 2) + Working,
            ImageSharpAdmission.EstimateBytes(pool, Jpeg(), FileLength, liveCopies: 2));
    }

    [Fact]
    public void EstimateBytes_VeryWide_CountsItsRows()
    {
        using Pool pool = Pool.Create();
        Assert.Equal(
            pool.EstimatePixelBytes(65_500, 100, 3) + (512 * 65_500),
            ImageSharpAdmission.EstimateBytes(pool, Info(65_500, 100, new JpegFormat(), 24), 0));
    }

    [Fact]
    public async Task AdmitAsync_AnImage_ReservesForItAndReadsOnlyItsHeader()
    {
        using Pool pool = NewPool();
        using DescribedFile file = new(Jpeg(), FileLength) { Position = 10 };
        Configuration preferred = new() { PreferContiguousImageBuffers = true };

        ImageSharpAdmission admission = await ImageSharpAdmission.AdmitAsync(pool, file, maximumFrames: 7, configuration: preferred);

        Assert.Equal(10, file.Position);
        Assert.IsType<SimpleGcMemoryAllocator>(DescribedFile.LastIdentifiedWith!.Configuration.MemoryAllocator);
        Assert.Same(preferred.ImageFormatsManager, DescribedFile.LastIdentifiedWith.Configuration.ImageFormatsManager);
        Assert.True(DescribedFile.LastIdentifiedWith.SkipMetadata);
        Assert.Equal(ImageSharpAdmission.EstimateBytes(pool, file.Info, FileLength - 10), admission.Reservation.ReservedBytes);
        Assert.Equal(
            (true, 7u),
            (admission.DecoderOptions.Configuration.PreferContiguousImageBuffers, admission.DecoderOptions.MaxFrames));
        Assert.Same(file.Info, admission.Info);
        Assert.IsNotType<ImageSharpAllocator>(preferred.MemoryAllocator);

        using (IMemoryOwner<byte> pixels = admission.DecoderOptions.Configuration.MemoryAllocator.Allocate<byte>(Block))
        {
            Assert.Equal(admission.Reservation.ReservedBytes - Block, admission.Reservation.RemainingBytes);
        }

        admission.Dispose();
        Assert.Equal(0, pool.GetStatistics().BudgetUsedBytes);
    }

    [Fact]
    public async Task AdmitAsync_VeryWideImage_TakesPiecesThatHoldItsRows()
    {
        using Pool pool = NewPool();
        using DescribedFile file = new(Info(300_000, 4, null, 32), 100);
        using ImageSharpAdmission admission = await ImageSharpAdmission.AdmitAsync(pool, file);

        Configuration configuration = admission.DecoderOptions.Configuration;
        foreach (IDisposable piece in configuration.MemoryAllocator.AllocateRows<System.Numerics.Vector4>(300_000, 4))
        {
            piece.Dispose();
        }
    }

    /// <summary>ImageSharp tells of progressive JPEGs only. One in three scans keeps all coefficients, too.</summary>
    [Fact]
    public async Task AdmitAsync_BaselineJpegInSeveralScans_CountsItsCoefficients()
    {
        using Pool pool = NewPool();
        using DescribedFile file = new(Jpeg(), FileLength) { Start = HeaderOfScans(inFirstScan: 1) };
        using ImageSharpAdmission admission = await ImageSharpAdmission.AdmitAsync(pool, file);

        long coefficients = pool.EstimateBytes(Width * Height * 3) + Working;
        Assert.Equal(ImageSharpAdmission.EstimateBytes(pool, Jpeg(), FileLength) + coefficients, admission.Reservation.ReservedBytes);
        Assert.Equal(0, file.Position);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task ReserveEachImage_BaselineJpegInSeveralScans_CountsItsCoefficients(bool isForward)
    {
        using Pool pool = NewPool();
        (ImageSharpMiddlewareOptions options, HttpContext http) =
            NewRequest(Jpeg(), new Processor(needsAlpha: false), isForward: isForward, start: HeaderOfScans(inFirstScan: 1));
        options.ReserveEachImage(pool);

        await options.OnBeforeLoadAsync(Command(http), new Configuration());

        long coefficients = pool.EstimateBytes(Width * Height * 3) + Working;
        Assert.Equal(
            ImageSharpAdmission.EstimateBytes(pool, Jpeg(), FileLength) + coefficients, pool.GetStatistics().BudgetUsedBytes);
        await EndResponseAsync(http);
    }

    /// <summary>The file says more than ImageSharp: without its header, one that is called progressive counts as 4:4:4.</summary>
    [Fact]
    public void EstimateBytes_HeaderOfTheFile_CountsInsteadOfTheMetadata()
    {
        using Pool pool = Pool.Create();
        Assert.True(global::Allocator.PictureHeader.TryRead(HeaderOfScans(inFirstScan: 3), out global::Allocator.PictureHeader header));
        Assert.Equal(
            ImageSharpAdmission.EstimateBytes(pool, Jpeg(), FileLength),
            ImageSharpAdmission.EstimateBytes(pool, Jpeg(JpegEncodingColor.YCbCrRatio444), FileLength, header: header));
    }

    [Fact]
    public async Task AdmitAsync_NoRoom_WaitsForItOrForTheToken()
    {
        using Pool pool = NewPool();
        using DescribedFile file = new(Jpeg(JpegEncodingColor.YCbCrRatio444), FileLength);
        ImageSharpAdmission first = await ImageSharpAdmission.AdmitAsync(pool, file);
        using CancellationTokenSource giveUp = new();
        Task<ImageSharpAdmission> cancelled = ImageSharpAdmission.AdmitAsync(pool, file, cancellationToken: giveUp.Token);
        Task<ImageSharpAdmission> second = ImageSharpAdmission.AdmitAsync(pool, file);
        Assert.False(cancelled.IsCompleted);
        Assert.False(second.IsCompleted);

        giveUp.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.WaitAsync(s_patience));
        first.Dispose();
        (await second.WaitAsync(s_patience)).Dispose();
        Assert.Equal(0, pool.GetStatistics().BudgetUsedBytes);
    }

    [Fact]
    public async Task AdmitAsync_NotAnImage_ReservesNothing()
    {
        using Pool pool = NewPool();
        await Assert.ThrowsAsync<UnknownImageFormatException>(() => ImageSharpAdmission.AdmitAsync(pool, new MemoryStream([1, 2, 3])));
        using Stream forward =
            new System.IO.Compression.DeflateStream(new MemoryStream(), System.IO.Compression.CompressionMode.Decompress);
        await Assert.ThrowsAsync<ArgumentException>(() => ImageSharpAdmission.AdmitAsync(pool, forward));
        Assert.Equal(0, pool.GetStatistics().BudgetUsedBytes);
    }

    /// <summary>The lines of the guide for ASP.NET Core: the header is read from the received body, which stays where it is.</summary>
    [Fact]
    public async Task AdmitAsync_OfOpenBody_ReservesWhatTheHeaderSaysAndReadsNoMore()
    {
        DescribedFile.OfOtherStreams = Jpeg();
        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Logging.ClearProviders();
        builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = 256);
        await using WebApplication app = builder.Build();
        Pool allocator = app.Services.GetRequiredService<Pool>();
        long managed = 0;
        app.MapPost("/", async (HttpContext context) =>
        {
            using Stream body = context.Features.Get<IMemoryReservationFeature>()!.OpenBody();
            using ImageSharpAdmission image = await ImageSharpAdmission.AdmitAsync(allocator, body);
            return $"{context.GetMemoryReservation().ReservedBytes} {image.Reservation.ReservedBytes} {body.Position}";
        }).RequireMemory(context =>
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            using Stream body = context.Features.Get<IMemoryReservationFeature>()!.OpenBody();
            ValueTask<long> bytes = new(
                ImageSharpAdmission.EstimateBytes(allocator, ImageSharpAdmission.Identify(body), body.Length));
            managed = GC.GetAllocatedBytesForCurrentThread() - before;
            return bytes;
        });
        await app.StartAsync();
        byte[] upload = new byte[FileLength];
        upload[0] = DescribedFile.Mark;
        using HttpClient client = new();

        using HttpResponseMessage response = await client.PostAsync(app.Urls.Single(), new ByteArrayContent(upload));

        long expected = ImageSharpAdmission.EstimateBytes(allocator, Jpeg(), FileLength);
        Assert.Equal($"{expected} {expected} 0", await response.Content.ReadAsStringAsync());
        Assert.InRange(managed, 1, FileLength / 10);
    }

    /// <summary>The header says it, so nobody is told to try again.</summary>
    [Theory]
    [InlineData("budget", 30_000)]
    [InlineData("one allocation", 3_300)]
    [InlineData("container or machine", 500_000)]
    public async Task AdmitAsync_NeverFits_ThrowsAtOnceAsNotTransient(string limit, int side)
    {
        using Pool pool = Pool.Create(limit switch
        {
            "budget" => new MemoryAllocatorOptions { MemoryBudgetMegabytes = 256 },
            "one allocation" => new MemoryAllocatorOptions { MemoryBudgetMegabytes = 256, AllocationLimitMegabytes = 20 },
            _ => new MemoryAllocatorOptions { MinimumFreeMegabytes = 1, AllocationLimitMegabytes = int.MaxValue },
        });
        using DescribedFile bomb = new(Info(side, side, null, 32), 100);

        MemoryLimitExceededException refusal =
            await Assert.ThrowsAsync<MemoryLimitExceededException>(() => ImageSharpAdmission.AdmitAsync(pool, bomb));

        Assert.False(refusal.IsTransient);
        Assert.InRange(refusal.RequestedBytes, 4L * side * side, long.MaxValue);
        Assert.Equal(0, pool.GetStatistics().BudgetUsedBytes);

        (ImageSharpMiddlewareOptions options, HttpContext http) = NewRequest(bomb.Info, new Processor(needsAlpha: false));
        options.ReserveEachImage(pool);
        MemoryLimitExceededException ofWeb = await Assert.ThrowsAsync<MemoryLimitExceededException>(
            () => options.OnBeforeLoadAsync(Command(http), new Configuration()));
        Assert.False(ofWeb.IsTransient);
    }

    /// <summary>Graphics options of the application lie there.</summary>
    [Fact]
    public async Task NewConfiguration_PropertiesOfTheOriginal_AreThere()
    {
        using Pool pool = NewPool();
        using MemoryReservation job = await pool.ReserveAsync(Block);
        Configuration original = new();
        original.Properties["graphics options"] = this;
        Assert.Same(this, ImageSharpAdmission.NewConfiguration(original, job, 1).Properties["graphics options"]);
    }

    // Measured in memory of the pool with ImageSharp 3.1.12 and 4.1.1, by a picture of 3000 x 2000 pixels, or 4 frames of a quarter.
    [Theory]
    [InlineData("webp lossy", 54_800_000, 2_300_000)]
    [InlineData("webp alpha", 113_500_000, 2_300_000)]
    [InlineData("webp lossless", 79_700_000, 1_800_000)]
    [InlineData("webp frames", 51_500_000, 2_500_000)]
    [InlineData("webp lossless frames", 62_900_000, 8_000_000)]
    [InlineData("tiff jpeg", 67_700_000, 2_900_000)]
    [InlineData("tga of one run", 46_100_000, 100_000)]
    [InlineData("apng", 36_900_000, 8_300_000)]
    public void EstimateBytes_OfAFormat_CoversWhatWasMeasured(string kind, long measured, int fileLength)
    {
        using Pool pool = Pool.Create();
        bool hasFrames = kind.EndsWith("frames", StringComparison.Ordinal);
        bool isSmall = hasFrames || kind == "apng";
        ImageInfo info = new()
        {
            Width = isSmall ? 1500 : 3000,
            Height = isSmall ? 1000 : 2000,
            PixelType = new PixelTypeInfo(kind.StartsWith("tga", StringComparison.Ordinal) ? 24 : 32),
            FrameMetadataCollection =
            [
                .. Enumerable.Repeat(
                    new ImageFrameMetadata { Tiff = new TiffFrameMetadata { Compression = TiffCompression.Jpeg } }, hasFrames ? 4 : 1),
            ],
            Metadata = new ImageMetadata
            {
                DecodedImageFormat =
                    kind[0] == 'w' ? new WebpFormat() : kind[1] == 'i' ? new TiffFormat() : kind[1] == 'g' ? new TgaFormat() : null,
                WebP = new WebpMetadata
                {
                    FileFormat = kind.Contains("lossless", StringComparison.Ordinal) ? WebpFileFormatType.Lossless : WebpFileFormatType.Lossy,
                },
            },
        };
        global::Allocator.PictureHeader header = default;
        byte[] start = kind == "webp lossy" ? s_lossyWebP : kind == "apng" ? s_apngOfFourFrames : [];
        Assert.Equal(start.Length != 0, global::Allocator.PictureHeader.TryRead(start, out header));

        // An estimate of half as much again would let in fewer than could run.
        Assert.InRange(
            ImageSharpAdmission.EstimateBytes(pool, info, fileLength, header: header), measured, measured + (measured / 2) + Working);
    }

    /// <summary>ImageSharp 3.1.12 loads an APNG, and does not identify it beyond its first frame.</summary>
    [Fact]
    public async Task AdmitAsync_ApngThatImageSharpDoesNotIdentify_ReservesForItsFrames()
    {
        using Pool pool = NewPool();
        ImageInfo info = Info(1500, 1000, null, 32, frames: 0);
        using DescribedFile file = new(info, FileLength) { Start = s_apngOfFourFrames, FailsAtSecondFrame = true };
        using (ImageSharpAdmission admission = await ImageSharpAdmission.AdmitAsync(pool, file))
        {
            Assert.InRange(admission.Reservation.ReservedBytes, pool.EstimatePixelBytes(1500, 1000, 4, 4), long.MaxValue);
            Assert.Equal((uint)int.MaxValue, admission.DecoderOptions.MaxFrames);
        }

        foreach (bool isForward in new[] { false, true })
        {
            (ImageSharpMiddlewareOptions options, HttpContext http) = NewRequest(
                info, new Processor(needsAlpha: false), isForward: isForward, start: s_apngOfFourFrames, failsAtSecondFrame: true);
            options.ReserveEachImage(pool);
            Assert.NotNull(await options.OnBeforeLoadAsync(Command(http), new Configuration()));
            await EndResponseAsync(http);
        }
    }

    /// <summary>Who announces more frames than the file can have gets no more memory than for those.</summary>
    [Fact]
    public void EstimateBytes_ApngThatAnnouncesBillions_CountsWhatItsFileCanHave()
    {
        using Pool pool = Pool.Create();
        byte[] start = [.. s_apngOfFourFrames];
        start[41] = 0xFF;
        Assert.True(global::Allocator.PictureHeader.TryRead(start, out global::Allocator.PictureHeader header));
        long estimate = ImageSharpAdmission.EstimateBytes(pool, Info(1500, 1000, null, 32), 540, header: header);
        Assert.InRange(estimate, 1, pool.EstimatePixelBytes(1500, 1000, 4, 11) + pool.EstimateBytes(540) + Working);
    }

    [Fact]
    public async Task ReserveEachImage_ImageIsMade_EndsBeforeTheResponse()
    {
        using Pool pool = NewPool();
        (ImageSharpMiddlewareOptions options, HttpContext http) = NewRequest(Jpeg(), new Processor(needsAlpha: false));
        int others = 0;
        options.OnProcessedAsync = _ =>
        {
            others++;
            return Task.CompletedTask;
        };
        options.ReserveEachImage(pool);

        DecoderOptions? decoder =
            await options.OnBeforeLoadAsync(Command(http), new Configuration { PreferContiguousImageBuffers = true });

        Assert.IsType<ImageSharpAllocator>(decoder!.Configuration.MemoryAllocator);
        Assert.True(decoder.Configuration.PreferContiguousImageBuffers);
        Assert.Equal(ImageSharpAdmission.EstimateBytes(pool, Jpeg(), FileLength), pool.GetStatistics().BudgetUsedBytes);
        await options.OnProcessedAsync(new ImageProcessingContext(http));
        Assert.Equal((0L, 1), (pool.GetStatistics().BudgetUsedBytes, others));
    }

    // ImageSharp copies the whole file: without a reservation all misses at once would take as much as they like.
    [Fact]
    public async Task ReserveEachImage_FileThatCannotSeek_IsReadWithinAReservation()
    {
        using Pool pool = NewPool();
        MemoryReservation all = await pool.ReserveAsync(250L << 20);
        (ImageSharpMiddlewareOptions options, HttpContext http) =
            NewRequest(Jpeg(), new Processor(needsAlpha: false), isForward: true);
        options.ReserveEachImage(pool);
        DescribedFile.LastIdentifiedWith = null;
        Configuration host = new();

        Task<DecoderOptions?> waiting = options.OnBeforeLoadAsync(Command(http), host);

        Assert.False(waiting.IsCompleted);
        Assert.Null(DescribedFile.LastIdentifiedWith);
        all.Dispose();
        await waiting.WaitAsync(s_patience);
        Assert.Equal(ImageSharpAdmission.EstimateBytes(pool, Jpeg(), FileLength), pool.GetStatistics().BudgetUsedBytes);
    }

    [Fact]
    public async Task ReserveEachImage_FormatsOfTheHost_AreThoseThatReadTheHeader()
    {
        using Pool pool = NewPool();
        foreach (bool isForward in new[] { false, true })
        {
            (ImageSharpMiddlewareOptions options, HttpContext http) =
                NewRequest(Jpeg(), new Processor(needsAlpha: false), isForward: isForward);
            options.ReserveEachImage(pool);
            Configuration host = new();
            await options.OnBeforeLoadAsync(Command(http), host);
            Assert.Same(host.ImageFormatsManager, DescribedFile.LastIdentifiedWith!.Configuration.ImageFormatsManager);
            await EndResponseAsync(http);
        }
    }

    [Fact]
    public void Identify_Fails_RestoresThePosition()
    {
        using MemoryStream stream = new([1, 2, 3]) { Position = 1 };
        Assert.Throws<UnknownImageFormatException>(() => ImageSharpAdmission.Identify(stream));
        Assert.Equal(1, stream.Position);
    }

    [Fact]
    public async Task ReserveEachImage_DecodingFails_EndsWithTheResponse()
    {
        using Pool pool = NewPool();
        (ImageSharpMiddlewareOptions options, HttpContext http) = NewRequest(Jpeg(), new Processor(needsAlpha: false));
        options.ReserveEachImage(pool);
        await options.OnBeforeLoadAsync(Command(http), new Configuration());
        Assert.NotEqual(0, pool.GetStatistics().BudgetUsedBytes);

        await EndResponseAsync(http);

        Assert.Equal(0, pool.GetStatistics().BudgetUsedBytes);
    }

    [Theory]
    [InlineData("colour", "colour", 4)]
    // The processor of the background colour says yes to every request: it is asked only if its command is there.
    [InlineData("colour", "width", null)]
    [InlineData("colour", null, null)]
    public async Task ReserveEachImage_ProcessorNeedsAlpha_CountsIfItsCommandIsInTheRequest(
        string known,
        string? sent,
        int? bytesPerPixel)
    {
        using Pool pool = NewPool();
        (ImageSharpMiddlewareOptions options, HttpContext http) = NewRequest(Jpeg(), new Processor(needsAlpha: true, known));
        options.ReserveEachImage(pool);
        await options.OnBeforeLoadAsync(Command(http, sent), new Configuration());
        Assert.Equal(
            ImageSharpAdmission.EstimateBytes(pool, Jpeg(), FileLength, bytesPerPixel), pool.GetStatistics().BudgetUsedBytes);
    }

    [Fact]
    public async Task ReserveEachImage_ProcessorOfTheRequestNeedsNoAlpha_ReservesThreeBytesAPixel()
    {
        using Pool pool = NewPool();
        (ImageSharpMiddlewareOptions options, HttpContext http) = NewRequest(Jpeg(), new Processor(needsAlpha: false, "width"));
        options.ReserveEachImage(pool);
        await options.OnBeforeLoadAsync(Command(http, "width"), new Configuration());
        Assert.Equal(ImageSharpAdmission.EstimateBytes(pool, Jpeg(), FileLength, 3), pool.GetStatistics().BudgetUsedBytes);
    }

    /// <summary>What a host has decided of decoding is not the reservation's business.</summary>
    [Fact]
    public async Task ReserveEachImage_HostHasAHook_KeepsItsOptionsExceptTheMemory()
    {
        using Pool pool = NewPool();
        (ImageSharpMiddlewareOptions options, HttpContext http) =
            NewRequest(Info(2000, 2000, null, 8, frames: 10), new Processor(needsAlpha: false));
        Configuration ofHost = new();
        ofHost.Properties["mine"] = this;
        DecoderOptions given = new()
        {
            Configuration = ofHost,
            TargetSize = new Size(),
            Sampler = new Resampler(),
            SkipMetadata = true,
            MaxFrames = 3,
        };
        options.OnBeforeLoadAsync = (_, _) => Task.FromResult<DecoderOptions?>(given);
        options.ReserveEachImage(pool);

        DecoderOptions? decoder = await options.OnBeforeLoadAsync(Command(http), new Configuration());

        Assert.Equal(
            (given.TargetSize, given.Sampler, given.SkipMetadata, given.MaxFrames),
            (decoder!.TargetSize, decoder.Sampler, decoder.SkipMetadata, decoder.MaxFrames));
        Assert.Same(this, decoder.Configuration.Properties["mine"]);
        Assert.IsType<ImageSharpAllocator>(decoder.Configuration.MemoryAllocator);
        Assert.Equal(
            ImageSharpAdmission.EstimateBytes(pool, Info(2000, 2000, null, 8, frames: 3), FileLength),
            pool.GetStatistics().BudgetUsedBytes);
        await EndResponseAsync(http);
    }

    [Fact]
    public async Task ReserveEachImage_ClientIsGone_StopsWaiting()
    {
        using Pool pool = NewPool();
        using MemoryReservation all = await pool.ReserveAsync(250L << 20);
        using CancellationTokenSource gone = new();
        (ImageSharpMiddlewareOptions options, HttpContext http) = NewRequest(Jpeg(), new Processor(needsAlpha: false), gone.Token);
        options.ReserveEachImage(pool);
        Task<DecoderOptions?> waiting = options.OnBeforeLoadAsync(Command(http), new Configuration());
        Assert.False(waiting.IsCompleted);

        gone.Cancel();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting.WaitAsync(s_patience));
        Assert.Empty(Registered(http));
    }

    // A lossy WebP of one picture.
    private static readonly byte[] s_lossyWebP =
        [.. "RIFF\0\0\0\0WEBPVP8 \0\0\0\0"u8, 0, 0, 0, 0x9D, 0x01, 0x2A, 0xB8, 0x0B, 0xD0, 0x07];

    // The header and the chunk that announces the frames.
    private static readonly byte[] s_apngOfFourFrames =
    [
        0x89, .. "PNG\r\n"u8, 0x1A, (byte)'\n', 0, 0, 0, 13, .. "IHDR"u8, 0, 0, 5, 0xDC, 0, 0, 3, 0xE8, 8, 6, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 8, .. "acTL"u8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0,
    ];

    private static Pool NewPool() => Pool.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 256 });

    private static ImageInfo Jpeg(JpegEncodingColor? progressive = null, int bitsPerPixel = 24) =>
        Info(Width, Height, new JpegFormat(), bitsPerPixel, progressive: progressive);

    // A baseline JPEG with colours at half the resolution, up to its first scan.
    private static byte[] HeaderOfScans(byte inFirstScan) =>
    [
        0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 8, Height >> 8, Height & 255, Width >> 8, Width & 255, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1,
        0xFF, 0xDA, 0, 3, inFirstScan,
    ];

    private static ImageInfo Info(
        int width,
        int height,
        IImageFormat? format,
        int bitsPerPixel,
        int frames = 1,
        JpegEncodingColor? progressive = null) => new()
        {
            Width = width,
            Height = height,
            PixelType = new PixelTypeInfo(bitsPerPixel),
            FrameMetadataCollection = [.. Enumerable.Repeat(new ImageFrameMetadata(), frames)],
            Metadata = new ImageMetadata
            {
                DecodedImageFormat = format,
                Jpeg = JpegMetadata.Of(progressive),
            },
        };

    private static ImageCommandContext Command(HttpContext http, string? command = null)
    {
        CommandCollection commands = [];
        if (command is not null)
        {
            commands.Add(new KeyValuePair<string, string?>(command, "1"));
        }

        return new ImageCommandContext(http, commands, new CommandParser(), CultureInfo.InvariantCulture);
    }

    private static (ImageSharpMiddlewareOptions Options, HttpContext Http) NewRequest(
        ImageInfo info,
        Processor processor,
        CancellationToken aborted = default,
        bool isForward = false,
        byte[]? start = null,
        bool failsAtSecondFrame = false)
    {
        ServiceCollection services = new();
        services.AddSingleton<IImageProvider>(new OneImage(info, isForward, start, failsAtSecondFrame));
        services.AddSingleton<IImageWebProcessor>(processor);
        DefaultHttpContext http = new() { RequestServices = services.BuildServiceProvider(), RequestAborted = aborted };
        http.Features.Set<IHttpResponseFeature>(new Response());
        return (new ImageSharpMiddlewareOptions(), http);
    }

    private static List<Func<Task>> Registered(HttpContext http) => ((Response)http.Features.Get<IHttpResponseFeature>()!).Completed;

    private static Task EndResponseAsync(HttpContext http) => Task.WhenAll(Registered(http).Select(completed => completed()));

    /// <summary>What the server does with it: runs when the response has been sent.</summary>
    private sealed class Response : HttpResponseFeature
    {
        public List<Func<Task>> Completed { get; } = [];

        public override void OnCompleted(Func<object, Task> callback, object state) => Completed.Add(() => callback(state));
    }

    private sealed class OneImage(ImageInfo info, bool isForward, byte[]? start, bool failsAtSecondFrame)
        : IImageProvider, IImageResolver
    {
        public Func<HttpContext, bool> Match { get; set; } = _ => true;

        public Task<IImageResolver?> GetAsync(HttpContext context) => Task.FromResult<IImageResolver?>(this);

        public Task<SixLabors.ImageSharp.Web.ImageMetadata> GetMetaDataAsync() =>
            Task.FromResult(new SixLabors.ImageSharp.Web.ImageMetadata(default, FileLength));

        public Task<Stream> OpenReadAsync() =>
            Task.FromResult<Stream>(new DescribedFile(info, FileLength)
            {
                IsForward = isForward,
                Start = start ?? [],
                FailsAtSecondFrame = failsAtSecondFrame,
            });
    }

    private sealed class Resampler : SixLabors.ImageSharp.Processing.Processors.Transforms.IResampler;

    private sealed class Processor(bool needsAlpha, params string[] commands) : IImageWebProcessor
    {
        public IEnumerable<string> Commands => commands;

        public bool RequiresTrueColorPixelFormat(CommandCollection commands, CommandParser parser, CultureInfo culture) => needsAlpha;
    }
}
