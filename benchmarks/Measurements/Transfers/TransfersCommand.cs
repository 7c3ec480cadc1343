namespace Measurements.Transfers;

/// <summary>Measures what it costs when memory that a device is to fill or to read does not begin on a page, or is not pinned.</summary>
internal sealed class TransfersCommand
{
    private const int PoolMegabytes = 512;

    private static readonly int[] s_sizes = [64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];

    private static readonly Option<DirectoryInfo?> s_directory = WritableDirectory(
        "--directory",
        "Where the file to read is written (64 MiB). Unless given, the first of artifacts, the temporary folder and the home folder "
            + "that allows direct reads.");

    private static readonly Option<string?> s_cudaLibrary = new("--cuda-library")
    {
        Description = "The library of the CUDA driver; the system's own unless given.",
    };

    private readonly MeasurementRun _run;
    private readonly MemoryAllocator _allocator;
    private readonly List<string> _notes = [];
    private readonly List<ResultTable> _tables = [];
    private readonly List<ResultChart> _charts = [];

    private TransfersCommand(MeasurementRun run, MemoryAllocator allocator)
    {
        _run = run;
        _allocator = allocator;
    }

    public static Command Create() => new Command(
        "transfers", "Reads a file past the system's cache into page-aligned and other memory, and copies memory to a CUDA device where there is one.")
    {
        s_directory, s_cudaLibrary,
    }.Measures("PageAlignedTransfer", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = PoolMegabytes });
        TransfersCommand command = new(run, allocator);
        byte[] content = TransferFile.MakeContent(s_sizes[^1]);
        using (TransferFile file = TransferFile.Create(Folders(run.Get(s_directory)), content))
        {
            command.ReadFile(file, content);
            command.ReadIntoLockedMemory(file, content);
        }

        command.CopyToDevice();
        return run.NewDocument("Page-aligned memory for transfers: what alignment and pinning save") with
        {
            Tables = command._tables,
            Charts = command._charts,
            Notes = command._notes,
        };
    }

    private void ReadFile(TransferFile file, byte[] content)
    {
        _run.Console.WriteLine(file.IsDirect
            ? $"reading with {DirectFile.FlagName} from {file.FileSystem}"
            : $"reading through the system's cache: {file.FallbackReason}");
        int least = file.IsDirect ? DirectFile.FindLeastAlignment(file.Handle)!.Value : Environment.SystemPageSize;
        _notes.AddRange(NotesOf(file, least));
        using TransferMeasurement measurement = new(file.Handle, content, TransferWay.List(_allocator, least));
        TransferTables transfers = new(MeasureSizes(s_sizes, "reading {0}", measurement.Run, 10, (1, 7, 201)));
        _tables.AddRange([transfers.PhaseByPhase(), transfers.OfFile()]);
        _charts.Add(transfers.TimeChart());
    }

    private static IEnumerable<string> NotesOf(TransferFile file, int least)
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
            yield return $"Reads go through the system's cache, and show no device: {file.FallbackReason}";
            yield return "No way needs the bounce buffer then; it is used all the same, to show the copy.";
        }

        yield return "Pool: blocks of 4 MiB, each read into by itself; up to 1 MiB the beginning of one. AllocateAligned(page), "
            + "which the system serves each time, differs up to 1 MiB only; contiguous pool memory above 4 MiB only.";
        yield return $"The bounce buffer has {TransferMeasurement.BounceBytes >> 20} MiB, begins on a page, and is kept for the whole "
            + "run: "
            + "a bounced transfer is charged for the copy, not for the buffer.";
        yield return "Populate writes to every page before the read; process sums all words, and the sum is compared. "
            + "All ways in turn in each round; a round before the first is not counted.";
    }

    private void ReadIntoLockedMemory(TransferFile file, byte[] content)
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
            _notes.Add(Invariant(
                $"A pool of {s_sizes[^1] >> 20} MiB that keeps its blocks was made resident and locked in {Stopwatch.GetElapsedTime(start).TotalMilliseconds:0} ms, ")
                + "once. Locking is the part of a registration with a device that needs no device: "
                + "what a driver does besides is not in these figures.");
            using TransferMeasurement measurement = new(file.Handle, content, TransferWay.ListLocked(keeping, _allocator));
            int[] sizes = [.. s_sizes.Where(bytes => bytes >= 4 << 20)];
            _tables.Add(new TransferTables(
                MeasureSizes(sizes, "reading {0} into locked memory", measurement.Run, 10, (1, 7, 201))).OfLocked());
        }
        catch (Win32Exception exception)
        {
            _run.Console.MarkupLineInterpolated($"[yellow]no reads into locked memory: {exception.Message}[/]");
            _notes.Add($"No reads into locked memory: {exception.Message}.");
        }
    }

    private void CopyToDevice()
    {
        try
        {
            using CudaDevice device = CudaDevice.Open(_run.Get(s_cudaLibrary));
            string name = $"{device.Name} (CUDA {device.DriverVersion / 1000}.{device.DriverVersion % 1000 / 10})";
            DeviceCopyMeasurement measurement = new(device, _allocator);
            TransferTables copies = new(MeasureSizes(s_sizes, $"copying {{0}} to {device.Name}", measurement.Run, 5, (2, 11, 501)));
            _tables.Add(copies.OfDevice(name));
            _charts.Add(copies.RateChart());
            _notes.Add(
                $"Device: {name}. A copy ends with cuCtxSynchronize; what arrived was read back and compared. "
                + "\"Registered each time\" has cuMemHostRegister and its end in the total.");
        }
        catch (CudaException exception)
        {
            _run.Console.MarkupLineInterpolated($"[yellow]no copies to a CUDA device: {exception.Message}[/]");
            _notes.Add($"No copies to a CUDA device: {exception.Message}.");
        }
    }

    // Each size for some seconds, within bounds of rounds; in a quick run a few rounds alone.
    private List<IReadOnlyList<TransferTime>> MeasureSizes(
        int[] sizes,
        string progress,
        Func<int, TimeSpan, int, int, IReadOnlyList<TransferTime>> measure,
        int seconds,
        (int Quick, int Least, int Most) rounds)
    {
        List<IReadOnlyList<TransferTime>> times = [];
        foreach (int bytes in sizes)
        {
            _run.Console.WriteLine($"{string.Format(CultureInfo.InvariantCulture, progress, TransferTables.Size(bytes))} ...");
            times.Add(_run.IsQuick
                ? measure(bytes, TimeSpan.Zero, rounds.Quick, rounds.Quick)
                : measure(bytes, TimeSpan.FromSeconds(seconds), rounds.Least, rounds.Most));
        }

        return times;
    }

    private static Option<DirectoryInfo?> WritableDirectory(string name, string description)
    {
        Option<DirectoryInfo?> option = new(name) { Description = description };
        option.Validators.Add(result =>
        {
            try
            {
                result.GetValueOrDefault<DirectoryInfo?>()?.Create();
            }
            catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
            {
                result.AddError($"{name}: {exception.Message}");
            }
        });
        return option;
    }

    private static string[] Folders(DirectoryInfo? directory)
    {
        string[] usual =
        [
            Path.Combine("artifacts", "page-aligned-transfer"), Path.GetTempPath(),
            Environment.GetFolderPath(Environment.SpecialFolder.UserProfile),
        ];
        return directory is not null ? [directory.FullName] : [.. usual.Where(folder => folder.Length > 0)];
    }
}
