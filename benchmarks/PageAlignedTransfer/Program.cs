using System;
using System.Collections.Generic;
using System.CommandLine;
using System.ComponentModel;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Allocator;
using Measuring;
using Measuring.Results;
using PageAlignedTransfer.Cuda;
using PageAlignedTransfer.Files;
using PageAlignedTransfer.Locking;
using PageAlignedTransfer.Reporting;
using PageAlignedTransfer.Transfers;
using PageAlignedTransfer.Ways;
using Spectre.Console;

namespace PageAlignedTransfer;

/// <summary>Measures what it costs when memory that a device is to fill or to read does not begin on a page, or is not pinned.</summary>
internal static class Program
{
    private const int PoolMegabytes = 512;

    private static readonly int[] s_sizes = [64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];

    private static readonly Option<DirectoryInfo?> s_directory = WritableDirectory("--directory", "Where the file to read is written (64 MiB). Unless given, the first of artifacts, the temporary folder and the home folder that allows direct reads.");

    private static readonly Option<string?> s_cudaLibrary = new("--cuda-library")
    {
        Description = "The library of the CUDA driver; the system's own unless given.",
    };

    private static async Task<int> Main(string[] arguments)
    {
        long start = Stopwatch.GetTimestamp();
        MeasurementCommand command = new(
            "PageAlignedTransfer", "Reads a file past the system's cache into page-aligned and other memory, and copies memory to a CUDA device where there is one.");
        command.Root.Add(s_directory);
        command.Root.Add(s_cudaLibrary);
        int code = await command.RunAsync(arguments, (parsed, console) => Measure(command, parsed, console));
        Console.WriteLine(FormattableString.Invariant($"elapsed   {Stopwatch.GetElapsedTime(start).TotalSeconds:0} s"));
        return code;
    }

    private static ResultDocument Measure(MeasurementCommand command, ParseResult parsed, IAnsiConsole console)
    {
        bool quick = parsed.GetValue(command.Quick);
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = PoolMegabytes });
        List<string> notes = [];
        List<ResultTable> tables = [];
        TransferTables transfers = ReadFile(parsed.GetValue(s_directory), allocator, quick, console, tables, notes);
        List<ResultChart> charts = [transfers.Chart()];
        CopyToDevice(parsed.GetValue(s_cudaLibrary), allocator, quick, console, tables, charts, notes);
        return command.NewDocument("Page-aligned memory for transfers: what alignment and pinning save", parsed) with
        {
            Tables = tables,
            Charts = charts,
            Notes = notes,
        };
    }

    private static TransferTables ReadFile(DirectoryInfo? directory, MemoryAllocator allocator, bool quick, IAnsiConsole console, List<ResultTable> tables, List<string> notes)
    {
        byte[] content = TransferFile.MakeContent(s_sizes[^1]);
        using TransferFile file = TransferFile.Create(Folders(directory), content);
        console.WriteLine(file.IsDirect
            ? $"reading with {DirectFile.FlagName} from {file.FileSystem}"
            : $"reading through the system's cache: {file.FallbackReason}");

        int least = Environment.SystemPageSize;
        if (file.IsDirect)
        {
            least = AlignmentProbe.FindLeast(file.Handle);
            notes.Add($"Reads with {DirectFile.FlagName} from {file.FileSystem}. Tried out, it accepts addresses that are multiples of {least} bytes.");
            if (file.FileSystem is "tmpfs" or "ramfs")
            {
                notes.Add("That file system is memory, and no device: the figures show copies by the processor. Name a folder on a disk with --directory.");
            }

            notes.Add(least <= 2 * IntPtr.Size
                ? "So the heap's alignment is enough here, and \"heap, as it comes\" is read into without a copy. Other file systems, kernels and devices ask for 512 bytes or a page."
                : $"The heap aligns to {2 * IntPtr.Size}: memory of it needs the bounce buffer.");
        }
        else
        {
            notes.Add($"Reads go through the system's cache, and show no device: {file.FallbackReason}");
            notes.Add("No way needs the bounce buffer then; it is used all the same, to show the copy.");
        }

        notes.Add("Pool: blocks of 4 MiB, each read into by itself; up to 1 MiB the beginning of one. AllocateAligned(page), which the system serves each time, differs up to 1 MiB only; contiguous pool memory above 4 MiB only.");
        notes.Add($"The bounce buffer has {TransferMeasurement.BounceBytes >> 20} MiB, begins on a page, and is kept for the whole run: a bounced transfer is charged for the copy, not for the buffer.");
        notes.Add("Populate writes to every page before the read; process sums all words, and the sum is compared. All ways in turn in each round; a round before the first is not counted.");

        using TransferMeasurement measurement = new(file.Handle, content, TransferWay.List(allocator, least));
        List<IReadOnlyList<TransferTime>> sizes = [];
        foreach (int bytes in s_sizes)
        {
            console.WriteLine($"reading {TransferTables.Size(bytes)} ...");
            sizes.Add(quick
                ? measurement.Run(bytes, TimeSpan.Zero, leastRounds: 1, mostRounds: 1)
                : measurement.Run(bytes, TimeSpan.FromSeconds(10), leastRounds: 7, mostRounds: 201));
        }

        TransferTables transfers = new(sizes);
        tables.Add(transfers.AsInTheDocument());
        tables.Add(transfers.OfAllWays());
        ReadIntoLockedMemory(file, content, allocator, quick, console, tables, notes);
        return transfers;
    }

    private static void ReadIntoLockedMemory(
        TransferFile file, byte[] content, MemoryAllocator allocator, bool quick, IAnsiConsole console, List<ResultTable> tables, List<string> notes)
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
            notes.Add(FormattableString.Invariant($"A pool of {s_sizes[^1] >> 20} MiB that keeps its blocks was made resident and locked in {Stopwatch.GetElapsedTime(start).TotalMilliseconds:0} ms, once. Locking is the part of a registration with a device that needs no device: what a driver does besides is not in these figures."));
            using TransferMeasurement measurement = new(file.Handle, content, TransferWay.ListLocked(keeping, allocator));
            List<IReadOnlyList<TransferTime>> sizes = [];
            foreach (int bytes in s_sizes.Where(bytes => bytes >= 4 << 20))
            {
                console.WriteLine($"reading {TransferTables.Size(bytes)} into locked memory ...");
                sizes.Add(quick
                    ? measurement.Run(bytes, TimeSpan.Zero, leastRounds: 1, mostRounds: 1)
                    : measurement.Run(bytes, TimeSpan.FromSeconds(10), leastRounds: 7, mostRounds: 201));
            }

            tables.Add(LockedTables.Create(sizes));
        }
        catch (Win32Exception exception)
        {
            console.MarkupLineInterpolated($"[yellow]no reads into locked memory: {exception.Message}[/]");
            notes.Add($"No reads into locked memory: {exception.Message}.");
        }
    }

    private static void CopyToDevice(
        string? library, MemoryAllocator allocator, bool quick, IAnsiConsole console, List<ResultTable> tables, List<ResultChart> charts, List<string> notes)
    {
        List<IReadOnlyList<DeviceCopyTime>> sizes = [];
        string name = string.Empty;
        try
        {
            using CudaDevice device = CudaDevice.Open(library);
            name = $"{device.Name} (CUDA {device.DriverVersion / 1000}.{device.DriverVersion % 1000 / 10})";
            DeviceCopyMeasurement measurement = new(device, allocator);
            foreach (int bytes in s_sizes)
            {
                console.WriteLine($"copying {TransferTables.Size(bytes)} to {device.Name} ...");
                sizes.Add(quick
                    ? measurement.Run(bytes, TimeSpan.Zero, leastRounds: 2, mostRounds: 2)
                    : measurement.Run(bytes, TimeSpan.FromSeconds(5), leastRounds: 11, mostRounds: 501));
            }
        }
        catch (CudaException exception)
        {
            console.MarkupLineInterpolated($"[yellow]{(sizes.Count == 0 ? "no copies" : "no further copies")} to a CUDA device: {exception.Message}[/]");
            notes.Add($"{(sizes.Count == 0 ? "No copies" : "No further copies")} to a CUDA device: {exception.Message}.");
        }

        if (sizes.Count > 0)
        {
            tables.Add(DeviceCopyTables.Create(name, sizes));
            charts.Add(DeviceCopyTables.Chart(sizes));
            notes.Add($"Device: {name}. A copy ends with cuCtxSynchronize; what arrived was read back and compared. \"Registered each time\" has cuMemHostRegister and its end in the total.");
        }
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
        string[] usual = [Path.Combine("artifacts", "page-aligned-transfer"), Path.GetTempPath(), Environment.GetFolderPath(Environment.SpecialFolder.UserProfile)];
        return directory is not null ? [directory.FullName] : [.. usual.Where(folder => folder.Length > 0)];
    }
}
