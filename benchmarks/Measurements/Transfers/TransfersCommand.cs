namespace Measurements.Transfers;

/// <summary>Measures what it costs when memory that a device is to fill does not begin on a page, or is not locked.</summary>
internal static class TransfersCommand
{
    private const int PoolMegabytes = 512;
    private const int LeastLockedBytes = 4 << 20;

    private static readonly int[] s_sizes = [64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];

    private static readonly Option<DirectoryInfo?> s_directory = new("--directory")
    {
        Description = "Where the file to read is written (64 MiB). Unless given, the first of artifacts, the temporary folder and the "
            + "home folder that allows direct reads.",
    };

    public static Command Create() => new Command("transfers", "Reads a file past the system's cache into page-aligned and other memory.")
    {
        s_directory,
    }.Measures("PageAlignedTransfer", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = PoolMegabytes });
        byte[] content = TransferFile.MakeContent(s_sizes[^1]);
        using TransferFile file = TransferFile.Create(Folders(run.Get(s_directory)), content);
        run.Console.WriteLine(file.IsDirect
            ? $"reading with {DirectFile.FlagName} from {file.FileSystem}"
            : $"reading through the system's cache: {file.FallbackReason}");
        int least = file.IsDirect ? DirectFile.FindLeastAlignment(file.Handle)!.Value : Environment.SystemPageSize;
        List<string> notes = [.. Notes(file, least)];
        using TransferMeasurement measurement = new(file.Handle, content, TransferWay.List(allocator, least));
        TransferTables transfers = new(MeasureSizes(run, s_sizes, "", measurement));
        List<ResultTable> tables = [transfers.PhaseByPhase(), transfers.All("Every size and way")];
        if (ReadIntoLockedMemory(run, file, content, allocator, notes) is { } locked)
        {
            tables.Add(locked);
        }

        return run.NewDocument("Page-aligned memory for transfers: what alignment and locking save") with
        {
            Tables = tables,
            Charts = [transfers.TimeChart()],
            Notes = notes,
        };
    }

    private static IEnumerable<string> Notes(TransferFile file, int least)
    {
        if (file.IsDirect)
        {
            yield return $"Reads with {DirectFile.FlagName} from {file.FileSystem}. "
                + $"Tried out, it accepts addresses that are multiples of {least} bytes.";
            if (file.FileSystem is "tmpfs" or "ramfs")
            {
                yield return "That file system is memory, and no device: the figures show copies by the processor. "
                    + "Name a folder on a disk with --directory.";
            }

            yield return least <= 2 * IntPtr.Size
                ? "So the heap's alignment is enough here, and \"heap, as it comes\" is read into without a copy. "
                    + "Other file systems, kernels and devices ask for 512 bytes or a page."
                : $"The heap aligns to {2 * IntPtr.Size}: memory of it needs the bounce buffer.";
        }
        else
        {
            yield return $"Reads go through the system's cache, and show no device: {file.FallbackReason} "
                + "No way needs the bounce buffer then; it is used all the same, to show the copy.";
        }

        yield return "Pool: blocks of 4 MiB, each read into by itself; up to 1 MiB the beginning of one. AllocateAligned(page), "
            + "which the native heap serves up to 1 MiB, differs up to there only; contiguous pool memory above 4 MiB only.";
        yield return $"The bounce buffer has {TransferMeasurement.BounceBytes >> 20} MiB, begins on a page, and is kept for the whole "
            + "run: a bounced transfer is charged for the copy, not for the buffer.";
        yield return "Populate writes to every page before the read; process sums all words, and the sum is compared. "
            + "All ways in turn in each round; a round before the first is not counted.";
    }

    private static ResultTable? ReadIntoLockedMemory(
        MeasurementRun run, TransferFile file, byte[] content, MemoryAllocator allocator, List<string> notes)
    {
        try
        {
            using MemoryAllocator keeping = MemoryAllocator.Create(new MemoryAllocatorOptions
            {
                MaximumPoolSizeMegabytes = s_sizes[^1] >> 20,
                KeepBlocks = true,
                BlockCommitted = PageLock.Lock,
                BlockReleasing = PageLock.Unlock,
            });
            long start = Stopwatch.GetTimestamp();
            keeping.Prewarm(s_sizes[^1]);
            double milliseconds = Stopwatch.GetElapsedTime(start).TotalMilliseconds;
            notes.Add(Invariant($"A pool of {s_sizes[^1] >> 20} MiB that keeps its blocks was made resident and locked ")
                + Invariant($"in {milliseconds:0} ms, once. ")
                + "Locking is the part of a registration with a device that needs no device: what a driver does besides is not "
                + "in these figures.");
            using TransferMeasurement measurement = new(file.Handle, content, TransferWay.ListLocked(keeping, allocator));
            int[] sizes = [.. s_sizes.Where(bytes => bytes >= LeastLockedBytes)];
            return new TransferTables(MeasureSizes(run, sizes, " into locked memory", measurement))
                .All($"Direct reads into memory locked by mlock, once or for each transfer");
        }
        catch (IOException exception)
        {
            run.Console.MarkupLineInterpolated($"[yellow]no reads into locked memory: {exception.Message}[/]");
            notes.Add($"No reads into locked memory: {exception.Message}.");
            return null;
        }
    }

    // Each size for some seconds, within bounds of rounds; in a quick run one round alone.
    private static List<IReadOnlyList<TransferTime>> MeasureSizes(
        MeasurementRun run, int[] sizes, string where, TransferMeasurement measurement)
    {
        List<IReadOnlyList<TransferTime>> times = [];
        foreach (int bytes in sizes)
        {
            run.Console.WriteLine($"reading {TransferTables.Size(bytes)}{where} ...");
            times.Add(run.IsQuick
                ? measurement.Run(bytes, TimeSpan.Zero, 1, 1)
                : measurement.Run(bytes, TimeSpan.FromSeconds(10), 7, 201));
        }

        return times;
    }

    private static string[] Folders(DirectoryInfo? directory) => directory is not null ? [directory.FullName] :
    [
        Path.Combine("artifacts", "page-aligned-transfer"), Path.GetTempPath(),
        Environment.GetFolderPath(Environment.SpecialFolder.UserProfile),
    ];
}
