using ImageMagick;
using OpenCvSharp;
using SkiaSharp;

namespace Measurements.Factors;

/// <summary>A library that decodes pictures, and the pipeline of the main job that makes a thumbnail with it.</summary>
internal sealed record Library(string Name, string Pipeline, Func<string, IDisposable?> Decode)
{
    public static IReadOnlyList<Library> All { get; } =
    [
        new("SkiaSharp", "skia", SKBitmap.Decode),
        new("ImageSharp 2.1", "imagesharp", SixLabors.ImageSharp.Image.Load),
        new("Magick.NET", "magick", path => new MagickImage(path)),
        new("NetVips", "vips-resize", path => NetVips.Image.NewFromFile(path).CopyMemory()),
        new("OpenCvSharp", "opencv", path => Cv2.ImRead(path)),
    ];
}

/// <summary>What a child is to do.</summary>
/// <param name="WarmUp">The path of a small picture of the same format, with which all code is loaded and compiled.</param>
internal sealed record FactorRequest(string Library, bool IsThumbnail, string File, string WarmUp);

/// <summary>
/// How far the resident memory of a process rose while it worked on one picture, above where it was with all libraries loaded and all
/// code compiled.
/// </summary>
internal sealed record FactorPeak(long Bytes);

/// <summary>One operation on one picture, in a process of its own.</summary>
internal static class FactorTrial
{
    // Linux takes the peak of the resident set back to what is resident now.
    private const string ClearReferences = "/proc/self/clear_refs";

    public static ChildTask<FactorRequest, FactorPeak> Task { get; } =
        new("factor", MeasurementJson.Default.FactorRequest, MeasurementJson.Default.FactorPeak, Run);

    /// <summary>What the compiler takes while a loop gets hot is not the picture's.</summary>
    public static void Prepare(ProcessStartInfo start)
    {
        start.Environment["DOTNET_TieredPGO"] = "0";
        start.Environment["DOTNET_TC_QuickJitForLoops"] = "0";
    }

    private static FactorPeak Run(FactorRequest request)
    {
        Library library = Library.All.Single(library => library.Name == request.Library);
        string target = Path.Combine(Path.GetTempPath(), Invariant($"factor-{Environment.ProcessId}.jpg"));
        Work(library, request.IsThumbnail, request.WarmUp, target);
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        _ = NativeHeap.TryTrim();
        File.WriteAllText(ClearReferences, "5");
        long before = ProcessMemory.ReadResident();
        Work(library, request.IsThumbnail, request.File, target);
        return new FactorPeak(Math.Max(0, ProcessMemory.ReadPeakResident() - before));
    }

    private static void Work(Library library, bool isThumbnail, string file, string target)
    {
        if (isThumbnail)
        {
            Pipeline.Get(library.Pipeline).Run(file, target).AsTask().GetAwaiter().GetResult();
            File.Delete(target);
            return;
        }

        using IDisposable picture = library.Decode(file) ?? throw new InvalidDataException($"{library.Name} does not read {file}.");
    }
}
