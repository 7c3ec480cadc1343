using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Allocator.SkiaSharp.Tests;

/// <summary>
/// Estimates beside what was measured: the peak of the reservation, and what Skia took from malloc, counted by a library that is loaded
/// before the C library.
/// </summary>
public partial class EstimateTests
{
    private const string Library = "malloc_peak";

    private static readonly Lazy<(string Path, string Complaint)> s_library = new(Build);

    public static TheoryData<string> Files()
    {
        TheoryData<string> files = Picture.All();
        files.Add("oriented baseline.jpg");
        files.Add("oriented progressive-420.jpg");
        files.Add("oriented lossy.webp");
        return files;
    }

    // The bitmap as it is, smaller, in a color type, in a color space: in one process, because most of its time is the start.
    [SkippableTheory]
    [MemberData(nameof(Files))]
    public void EstimateBitmapBytes_OfAFile_CoversTheMeasuredPeak(string name)
    {
        Skip.IfNot(s_library.Value.Complaint.Length == 0, s_library.Value.Complaint);
        RemoteInvokeOptions options = new() { Environment = { ["LD_PRELOAD"] = s_library.Value.Path } };
        RemoteExecutor.Invoke(MeasureHere, name, options).Dispose();
    }

    [Fact]
    public void EstimateBitmapBytes_OfAHeader_IsThatOfTheFileLessWhatWasNotPassed()
    {
        byte[] file = Picture.Read("progressive-422.jpg");
        long whole = MemoryAllocator.Default.EstimateBitmapBytes(new MemoryStream(file));

        Assert.Equal(whole, MemoryAllocator.Default.EstimateBitmapBytes(file.AsSpan()));
        Assert.InRange(MemoryAllocator.Default.EstimateBitmapBytes(file.AsSpan(0, 1000)), whole - (file.Length * 2), whole);
    }

    [Fact]
    public void EstimateBitmapBytes_OfAStream_RestoresItsPosition()
    {
        using MemoryStream stream = new([1, 2, .. Picture.Read("baseline.jpg")]);
        stream.Position = 2;

        Assert.True(MemoryAllocator.Default.EstimateBitmapBytes(stream) > Picture.Width * Picture.Height * 4);
        Assert.Equal(2, stream.Position);
        Assert.Throws<ArgumentException>(() => MemoryAllocator.Default.EstimateBitmapBytes(new TricklingStream([])));
        Assert.Equal(2, stream.Position);
    }

    private static void MeasureHere(string name)
    {
        NativeLibrary.SetDllImportResolver(
            typeof(EstimateTests).Assembly,
            (library, _, _) => library == Library ? NativeLibrary.Load(Environment.GetEnvironmentVariable("LD_PRELOAD")!) : 0);
        byte[] file = Picture.Read(name.Split(' ')[^1]);
        if (name.Contains(' '))
        {
            file = name.EndsWith(".jpg", StringComparison.Ordinal)
                ? Picture.Oriented(file, SKEncodedOrigin.RightTop) : Picture.OrientedWebP(file, SKEncodedOrigin.RightTop);
        }

        Measure(name, file, new SKBitmapDecodeOptions());
        Measure($"{name}, 600 pixels", file, new SKBitmapDecodeOptions { LargestSize = new SKSizeI(600, 600) });
        Measure($"{name}, RgbaF16", file, new SKBitmapDecodeOptions { ColorType = SKColorType.RgbaF16 });
        Measure($"{name}, linear", file, new SKBitmapDecodeOptions { ColorSpace = SKColorSpace.CreateSrgbLinear() });
    }

    private static void Measure(string name, byte[] file, SKBitmapDecodeOptions decode)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 1000 });

        // What is made once is made.
        allocator.DecodeBitmap(new MemoryStream(file), decode).Dispose();
        allocator.ReleaseRetainedResources();

        // What of malloc the library has announced is counted once: as what was measured.
        using MemoryReservation reservation = allocator.ReserveAsync(500_000_000).AsTask().GetAwaiter().GetResult();
        Begin();
        reservation.DecodeBitmap(new MemoryStream(file), decode).Dispose();
        long taken = End();
        long announced = new Skia.DecodePlan(Skia.CodecHeader.TryRead(file, true)!, decode).CodecBytes;
        long estimated = allocator.EstimateBitmapBytes(new MemoryStream(file), decode);
        double factor = (double)estimated / (reservation.PeakUsedBytes - announced + taken);
        string figures = $"{name}: estimated {estimated:N0}, used {reservation.PeakUsedBytes:N0}, "
            + $"announced {announced:N0}, malloc {taken:N0}: {factor:F3}";
        bool isSmaller = decode.LargestSize is not null;
        Assert.True(taken <= announced || isSmaller, figures);
        Assert.True(reservation.PeakUsedBytes <= estimated, figures);
        Assert.True(factor is >= 1 and <= 1.3 || (isSmaller && factor >= 1), figures);
    }

    private static (string Path, string Complaint) Build()
    {
        if (!OperatingSystem.IsLinux())
        {
            return ("", "What malloc is asked for is counted on Linux.");
        }

        string library = Path.Combine(AppContext.BaseDirectory, $"lib{Library}.so");
        try
        {
            ProcessStartInfo start = new("cc", ["-O1", "-shared", "-fPIC", "-o", library, Path.ChangeExtension(Library, ".c"), "-ldl"])
            {
                WorkingDirectory = AppContext.BaseDirectory,
                RedirectStandardError = true,
            };
            using Process compiler = Process.Start(start)!;
            string complaints = compiler.StandardError.ReadToEnd();
            compiler.WaitForExit();
            return (library, compiler.ExitCode == 0 ? "" : complaints);
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return ("", "There is no C compiler (cc).");
        }
    }

    [LibraryImport(Library, EntryPoint = "malloc_peak_begin")]
    private static partial void Begin();

    [LibraryImport(Library, EntryPoint = "malloc_peak_end")]
    private static partial long End();
}
