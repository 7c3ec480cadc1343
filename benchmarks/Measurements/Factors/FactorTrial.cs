using SkiaSharp;

namespace Measurements.Factors;

/// <summary>What is done with a picture.</summary>
internal enum Operation
{
    Decode,
    DecodeResize,

    /// <summary>The same, after which the large picture goes and the small one becomes a JPEG.</summary>
    DecodeResizeEncode,
}

/// <summary>What a child is to do.</summary>
/// <param name="WarmUp">The path of a small picture of the same format, with which all code is loaded and compiled.</param>
/// <param name="Reduction">How many times narrower the small picture is.</param>
internal sealed record FactorRequest(Operation Operation, string File, string WarmUp, int Reduction);

/// <summary>What one operation on one picture took at most, in a process of its own.</summary>
/// <param name="PoolBytes">What the allocator had of the system at most, in whole blocks. Arrays of up to 1 MiB are not in it.</param>
/// <param name="ProcessBytes">
/// How far the resident memory of the process rose above where it was with the file in memory, all libraries loaded and all code compiled.
/// That includes the pool's.
/// </param>
internal sealed record TrialPeak(long PoolBytes, long ProcessBytes);

/// <summary>One operation on one picture, in the process that calls it.</summary>
internal static class FactorTrial
{
    // Linux takes the peak of the resident set back to what is resident now.
    private const string ClearReferences = "/proc/self/clear_refs";
    private const string ResetPeak = "5";

    /// <summary>
    /// Returns whether the peak of the resident set can be set back here. Elsewhere that since the start of the process is taken, which is
    /// no smaller.
    /// </summary>
    public static bool CanResetPeak => File.Exists(ClearReferences);

    public static ChildTask<FactorRequest, TrialPeak> Task { get; } =
        new("factor", MeasurementJson.Default.FactorRequest, MeasurementJson.Default.TrialPeak, Run);

    /// <summary>What the compiler takes while a loop gets hot is not the picture's.</summary>
    public static void Prepare(ProcessStartInfo start)
    {
        start.Environment["DOTNET_TieredPGO"] = "0";
        start.Environment["DOTNET_TC_QuickJitForLoops"] = "0";
    }

    private static TrialPeak Run(FactorRequest request)
    {
        byte[] small = File.ReadAllBytes(request.WarmUp);
        MeasuredCodec codec = MeasuredCodec.Load().First(codec => codec.Recognizes(small));
        _ = Measure(() => Run(request, small, codec));

        // The file is there before the measurement begins, in whichever memory: its length is known without a factor.
        byte[] data = File.ReadAllBytes(request.File);
        return Measure(() => Run(request, data, codec));
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

    private static long Run(FactorRequest request, ReadOnlyMemory<byte> file, MeasuredCodec codec)
    {
        // A budget counts arrays and whole blocks, as a reservation does; this one is never reached.
        int budget = (int)Math.Min(int.MaxValue, GC.GetGCMemoryInfo().TotalAvailableMemoryBytes >> 20);
        using BlockStore pool = new(new MemoryAllocatorOptions { MemoryBudgetMegabytes = budget, MaximumPoolSizeMegabytes = budget });
        UncountedStore store = new(pool);
        Raster? resized = null;
        using (Raster source = codec.Decode(file, store))
        {
            if (request.Operation != Operation.Decode)
            {
                PictureSize target = source.Size.FitWidth(Math.Max(1, source.Size.Width / request.Reduction));
                resized = new Raster(target, SKAlphaType.Opaque, store);
                source.ResizeTo(resized);
            }
        }

        using (resized)
        {
            if (request.Operation == Operation.DecodeResizeEncode)
            {
                resized!.Encode(Stream.Null, SKEncodedImageFormat.Jpeg);
            }
        }

        return pool.Statistics!.Value.PeakCommittedBytes;
    }
}

/// <summary>
/// A store that is not told what libraries take for themselves: its peak is then what was lent, and theirs shows in the process.
/// </summary>
internal sealed class UncountedStore(PixelStore store) : PixelStore
{
    public override long CommittedBytes => store.CommittedBytes;

    public override IMemoryOwner<byte> Allocate(int length) => store.Allocate(length);

    public override IDisposable? CountExternal(long bytes) => null;

    public override void Release() => store.Release();

    public override void Dispose()
    {
    }
}
