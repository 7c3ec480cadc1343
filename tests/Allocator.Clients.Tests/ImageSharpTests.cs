using System.Buffers;
using System.Globalization;
using System.Runtime.CompilerServices;
using Allocator.Tests;
using Allocator.Tests.Limits;
using Measuring.Cgroups;
using SixLabors.ImageSharp;
using SixLabors.ImageSharp.Formats;
using SixLabors.ImageSharp.PixelFormats;
using SixLabors.ImageSharp.Processing;

namespace Allocator.Clients.Tests;

/// <summary>The package's adapter with the real ImageSharp, of version 2.</summary>
public class ImageSharpTests
{
    private const long Limit = 350L << 20;

    public static TheoryData<string, SafetyMode> Formats
    {
        get
        {
            TheoryData<string, SafetyMode> formats = [];
            foreach (string format in (string[])["jpg", "png", "bmp", "gif", "webp", "tiff", "tga", "pbm"])
            {
                formats.Add(format, SafetyMode.Standard);
                formats.Add(format, SafetyMode.Guarded);
            }

            return formats;
        }
    }

    /// <summary>
    /// Read, resized, turned, blurred, written, and read again. In Guarded mode a write past an end would be found, and a read more than
    /// 64 bytes past it; ImageSharp 2.1.13 reads closer behind the rows of a JPEG.
    /// </summary>
    [Theory]
    [MemberData(nameof(Formats))]
    public void Image_ProcessedAndWritten_IsTheSameAsInImageSharpsOwnMemory(string format, SafetyMode safety)
    {
        byte[] expected = Process(Configuration.Default.Clone(), format);
        using MemoryAllocator pool = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = safety, OverreadToleranceInBytes = 64 });

        byte[] actual = Process(Over(pool), format);

        Assert.Equal(expected, actual);
        Assert.InRange(pool.GetStatistics().Rents, 10, long.MaxValue);
        Assert.Equal(0, pool.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void Load_AboveTheAllocatorsLimit_ThrowsImageSharpsExceptionAroundTheRefusal()
    {
        using MemoryAllocator pool = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 1 });

        ImageFormatException refused = Assert.ThrowsAny<ImageFormatException>(
            () => Image.Load<Rgba32>(Over(pool), Real.Photograph).Dispose());

        Assert.IsType<MemoryLimitExceededException>(ImageSharpAllocator.FindRefusal(refused));
        Assert.Equal(0, pool.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void Image_Contiguous_IsOneMember()
    {
        using MemoryAllocator pool = MemoryAllocator.Create();
        Configuration configuration = Over(pool);
        configuration.PreferContiguousImageBuffers = true;

        using Image<Rgba32> image = new(configuration, 4000, 3000);

        Assert.True(image.DangerousTryGetSinglePixelMemory(out Memory<Rgba32> pixels));
        Assert.Equal(4000 * 3000, pixels.Length);
        Assert.Equal(48_000_000, pool.GetStatistics().RentedBytes, 4_200_000d);
    }

    [Fact]
    public void Image_Forgotten_IsReturned() =>
        RemoteExecutor.Invoke(static () =>
        {
            using MemoryAllocator pool = MemoryAllocator.Create();
            Forget(Over(pool));
            Assert.Equal(1, pool.GetStatistics().OutstandingAllocations);
            bool isBack = SpinWait.SpinUntil(
                () =>
                {
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                    return pool.GetStatistics().OutstandingAllocations == 0;
                },
                TimeSpan.FromSeconds(60));
            Assert.True(isBack, $"{pool.GetStatistics()}");
        }).Dispose();

    /// <summary>
    /// ImageSharp knows one allocator, and no requests. A job of the allocator's, learned by its name and ambient, keeps 32 photographs
    /// at once alive in a container of 350 MiB, and all are made. No number says what a photograph takes.
    /// </summary>
    [SkippableFact]
    public void Use_ManyPhotographsInASmallContainer_CompletesAll()
    {
        using MemoryCgroup group = TestCgroup.CreateOrSkip(Limit);
        DirectoryInfo folder = Directory.CreateTempSubdirectory("ImageSharpTests-");
        try
        {
            // 12 megapixels: 36 MB decoded, and half of that in coefficients.
            string photograph = Path.Combine(folder.FullName, "photograph.jpg");
            using (Image<Rgb24> drawn = Image.Load<Rgb24>(Real.Photograph))
            {
                drawn.Mutate(static context => context.Resize(4000, 3000));
                drawn.SaveAsJpeg(photograph);
            }

            RemoteInvokeOptions options = new() { TimeOut = 300_000, CheckExitCode = false };
            RemoteExecutor.Invoke(MakeInside, string.Join('|', [group.Folder, photograph]), options).Dispose();

            Assert.Equal(0, group.Kills);
            Assert.Equal("32", File.ReadAllText(photograph + ".done"));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static async Task MakeInside(string choice)
    {
        (string cgroup, string photograph) = (choice.Split('|')[0], choice.Split('|')[1]);
        TestCgroup.Enter(cgroup);
        using MemoryAllocator pool = MemoryAllocator.Create(new MemoryAllocatorOptions { MinimumFreeMegabytes = 70 });
        Configuration configuration = Over(pool);
        int done = 0;
        await Task.WhenAll(Enumerable.Range(0, 32).Select(_ => Task.Run(async () =>
        {
            using MemoryReservation job = await pool.ReserveAsync("photograph");
            using (job.Use())
            {
                using Image<Rgb24> image = Image.Load<Rgb24>(configuration, photograph);
                image.Mutate(static context => context.Resize(800, 600));
                await image.SaveAsJpegAsync(Stream.Null);
            }

            Interlocked.Increment(ref done);
        })));
        await File.WriteAllTextAsync(photograph + ".done", done.ToString(CultureInfo.InvariantCulture));
    }

    private static Configuration Over(MemoryAllocator pool)
    {
        Configuration configuration = Configuration.Default.Clone();
        configuration.MemoryAllocator = new ImageSharpAllocator(pool);
        return configuration;
    }

    private static byte[] Process(Configuration configuration, string format)
    {
        IImageFormat written = configuration.ImageFormatsManager.FindFormatByFileExtension(format);
        using MemoryStream first = new();
        using (Image<Rgba32> image = Image.Load<Rgba32>(configuration, Real.Photograph))
        {
            // A multiple of 4 wide: between the rows of other BMPs ImageSharp 2.1.13 writes bytes that it has not set.
            image.Mutate(static context => context.Resize(616, 464).Rotate(RotateMode.Rotate90).GaussianBlur(2));
            image.Save(first, configuration.ImageFormatsManager.FindEncoder(written));
        }

        first.Position = 0;
        using Image<Rgba32> again = Image.Load<Rgba32>(configuration, first);
        byte[] pixels = new byte[again.Width * again.Height * Unsafe.SizeOf<Rgba32>()];
        again.CopyPixelDataTo(pixels);
        return [.. first.ToArray(), .. pixels];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Forget(Configuration configuration) => _ = new Image<Rgba32>(configuration, 1000, 700);

    /// <summary>A decoder that reports success must not show what an earlier renter of the memory left.</summary>
    [Theory]
    [InlineData("jpg")]
    [InlineData("progressive.jpg")]
    [InlineData("png")]
    [InlineData("gif")]
    [InlineData("bmp")]
    [InlineData("tga")]
    [InlineData("webp")]
    public void Load_FileThatIsCutOff_ShowsNothingOfAnEarlierImage(string kind)
    {
        byte[] whole = CutOffSource(kind);
        foreach (int eighths in new[] { 2, 4, 7 })
        {
            byte[] part = whole[..(whole.Length * eighths / 8)];
            // ImageSharp reads the 3 bytes behind the buffer of a JPEG's row: the rest of an array, where a clean buffer has ended.
            bool isJpeg = kind.EndsWith("jpg", StringComparison.Ordinal);
            byte[]? over0 = LoadOver(0x00, 0x00, part);
            byte[]? over1 = LoadOver(0xAB, (byte)(isJpeg ? 0x00 : 0xAB), part);

            Assert.Equal(over0 is null, over1 is null);
            Assert.True(over0.AsSpan().SequenceEqual(over1), $"{eighths}/8 of the file");
        }
    }

    private static byte[] CutOffSource(string kind)
    {
        if (kind == "progressive.jpg")
        {
            return File.ReadAllBytes(Repository.PathTo("tests/Allocator.SkiaSharp.Tests/Pictures/progressive-420.jpg"));
        }

        using Image<Rgba32> image = new(1600, 1200);
        image.ProcessPixelRows(rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                Span<Rgba32> row = rows.GetRowSpan(y);
                for (int x = 0; x < row.Length; x++)
                {
                    row[x] = new Rgba32((byte)(x * y >> 4), (byte)(x + y), (byte)(x ^ y), 255);
                }
            }
        });
        using MemoryStream file = new();
        ImageFormatManager formats = Configuration.Default.ImageFormatsManager;
        image.Save(file, formats.FindEncoder(formats.FindFormatByFileExtension(kind)));
        return file.ToArray();
    }

    private static byte[]? LoadOver(byte value, byte valueOfArrays, byte[] file)
    {
        for (int length = 16; length <= 1 << 20; length *= 2)
        {
            byte[][] arrays = [.. Enumerable.Range(0, 40).Select(_ => ArrayPool<byte>.Shared.Rent(length))];
            Array.ForEach(arrays, array => array.AsSpan().Fill(valueOfArrays));
            Array.ForEach(arrays, array => ArrayPool<byte>.Shared.Return(array));
        }

        using MemoryAllocator allocator = MemoryAllocator.Create();
        IMemoryOwner<byte>[] before = [.. Enumerable.Range(0, 8).Select(_ => allocator.Allocate<byte>(4 << 20))];
        foreach (IMemoryOwner<byte> owner in before)
        {
            owner.Memory.Span.Fill(value);
        }

        foreach (IMemoryOwner<byte> owner in before)
        {
            owner.Dispose();
        }

        using (IMemoryOwner<byte> next = allocator.Allocate<byte>(4 << 20))
        {
            Assert.Equal(-1, next.Memory.Span.IndexOfAnyExcept(value));
        }

        try
        {
            using Image<Rgba32> image = Image.Load<Rgba32>(Over(allocator), file);
            byte[] pixels = new byte[image.Width * image.Height * 4];
            image.CopyPixelDataTo(pixels);
            return pixels;
        }
        catch (Exception exception) when (exception is ImageFormatException or ArgumentException)
        {
            return null;
        }
    }
}
