using System.ComponentModel;
using System.Runtime.InteropServices;
using Allocator;
using Allocator.Diagnostics;
using Allocator.Native;

namespace PlatformSmoke.Windows;

/// <summary>How short memory is, as Windows tells it: the machine's figures, its notification, and the limits of a job.</summary>
internal static unsafe class SystemLoad
{
    private const int ExtendedLimits = 9; // JobObjectExtendedLimitInformation

    // No machine has it, so nothing else here is limited by it.
    private const long Limit = 8L << 40;

    /// <summary>Gets whether it is Wine that plays Windows.</summary>
    public static bool IsWine { get; } = NativeLibrary.TryGetExport(NativeLibrary.Load("ntdll"), "wine_get_version", out _);

    public static void OfTheMachine()
    {
        Checks.That(
            WindowsSystemMemory.TryReadMachine() is { TotalBytes: > 64 << 20, UsedBytes: > 0, Source: MemoryLoadSource.Machine },
            "figures of the machine");
        Checks.That(SystemMemory.Shared.AvailableBytes > 0, "available memory");
        Checks.That(WindowsSystemMemory.TryReadLowMemory() is not null, "an answer to whether memory runs low");
        Checks.That(SystemMemory.Shared is WindowsSystemMemory, "the source for Windows");
        MemoryLoad load = MemoryAllocator.Default.GetMemoryLoad();
        Checks.That(
            load is { Source: MemoryLoadSource.Machine or MemoryLoadSource.JobObject, TotalBytes: > 64 << 20, UsedBytes: > 0 },
            $"the load that trimming goes by: {load}");
    }

    public static void OfAJob()
    {
        nint job = CreateJobObjectW(0, 0);
        SetLimit(job, Limit);
        ThrowIfZero(AssignProcessToJobObject(job, GetCurrentProcess()));

        // Wine keeps no limits: it answers with a structure of zeros.
        if (IsWine)
        {
            Checks.That(WindowsJob.TryRead() is null, "no limit, under Wine");
            return;
        }

        Checks.That(
            WindowsJob.TryRead() is { TotalBytes: Limit, UsedBytes: > 1 << 20, Source: MemoryLoadSource.JobObject }, "the job's limit");
        SetLimit(job, Limit / 2);
        Checks.That(WindowsJob.TryRead() is { TotalBytes: Limit / 2 }, "the limit that it was lowered to");
    }

    private static void SetLimit(nint job, long bytes)
    {
        WindowsJob.Limits limits = new() { Flags = WindowsJob.Limits.OfJob, JobMemoryLimit = (nuint)bytes };
        ThrowIfZero(SetInformationJobObject(job, ExtendedLimits, &limits, (uint)sizeof(WindowsJob.Limits)));
    }

    private static void ThrowIfZero(int result)
    {
        if (result == 0)
        {
            throw new Win32Exception();
        }
    }

    [DllImport("kernel32", SetLastError = true)]
    private static extern nint CreateJobObjectW(nint attributes, nint name);

    [DllImport("kernel32", SetLastError = true)]
    private static extern int SetInformationJobObject(nint job, int kind, void* information, uint length);

    [DllImport("kernel32", SetLastError = true)]
    private static extern int AssignProcessToJobObject(nint job, nint process);

    [DllImport("kernel32")]
    private static extern nint GetCurrentProcess();
}
