using System;
using System.IO;
using System.Linq;
using Allocator;
using EstimateFactors.Codecs;
using LoadResizeSave.Codecs;
using LoadResizeSave.Codecs.Jpeg;
using LoadResizeSave.Pictures;
using LoadResizeSave.Pixels;
using LoadResizeSave.Resizing;
using Measuring.Machines;

namespace EstimateFactors.Trials;

/// <summary>One operation on one picture, in the process that calls it.</summary>
internal static class FactorTrial
{
    // Linux takes the peak of the resident set back to what is resident now.
    private const string ClearReferences = "/proc/self/clear_refs";
    private const string ResetPeak = "5";

    /// <summary>
    /// Returns whether the peak of the resident set can be set back here. Elsewhere that since the start of the process is taken, which
    /// is no smaller.
    /// </summary>
    public static bool CanResetPeak => File.Exists(ClearReferences);

    /// <summary>Runs <paramref name="operation"/> on <paramref name="warmUp"/> and then, measured, on <paramref name="file"/>.</summary>
    /// <param name="operation">What to do.</param>
    /// <param name="file">The path of the picture.</param>
    /// <param name="warmUp">The path of a small one of the same format, with which all code is loaded and compiled.</param>
    /// <param name="reduction">How many times narrower the small picture is.</param>
    public static TrialPeak Run(Operation operation, string file, string warmUp, int reduction)
    {
        JpegCodec? encoder = TurboJpegLibrary.TryLoad() is { } library ? new JpegCodec(library) : null;
        byte[] small = File.ReadAllBytes(warmUp);
        MeasuredCodec codec = MeasuredCodec.Load().First(codec => codec.Recognizes(small));
        _ = Measure(() => Run(operation, small, codec, encoder, reduction));

        // The file is there before the measurement begins, in whichever memory: its length is known without a factor.
        byte[] data = File.ReadAllBytes(file);
        return Measure(() => Run(operation, data, codec, encoder, reduction));
    }

    private static TrialPeak Measure(Func<long> run)
    {
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        _ = NativeHeap.TryTrim();
        if (CanResetPeak)
        {
            File.WriteAllText(ClearReferences, ResetPeak);
        }

        long before = ProcessMemory.ReadResident();
        long pool = run();
        return new TrialPeak(pool, Math.Max(0, ProcessMemory.ReadPeakResident() - before));
    }

    private static long Run(Operation operation, ReadOnlyMemory<byte> file, MeasuredCodec codec, JpegCodec? encoder, int reduction)
    {
        // A budget counts arrays and whole blocks, as a reservation does; this one is never reached.
        int budget = (int)Math.Min(int.MaxValue, GC.GetGCMemoryInfo().TotalAvailableMemoryBytes >> 20);
        using PixelStore store = PixelStore.Create(AllocatorKind.Budget, TimeSpan.FromMinutes(1), budget);
        Raster<Rgb24> source = codec.Decode(file, store);
        if (operation == Operation.Decode)
        {
            source.Dispose();
            return store.Statistics!.Value.PeakCommittedBytes;
        }

        PictureSize target = PictureReduction.Fit(new PictureSize(source.Width, source.Height), Math.Max(1, source.Width / reduction));
        using Raster<Rgb24> reduced = store.AllocatePixels<Rgb24>(target.Width, target.Height, contiguous: true);
        using (source)
        {
            LanczosResizer.Resize(source, reduced, store);
        }

        if (operation == Operation.DecodeResizeEncode && encoder is not null)
        {
            encoder.Encode(reduced, Stream.Null, new UncountedStore(store));
        }

        return store.Statistics!.Value.PeakCommittedBytes;
    }
}
