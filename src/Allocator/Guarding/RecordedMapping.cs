using System;
using System.Diagnostics;
using System.IO;
using System.Threading;
using Allocator.Diagnostics;

namespace Allocator.Guarding;

/// <summary>
/// One mapping's part of the process's record file. Without a file, or a free slot in it, every call does nothing: recording never fails a
/// rent.
/// </summary>
internal struct RecordedMapping
{
    private static readonly Lazy<RecordFile?> s_file = new(TryCreateFile);

    // Slot numbers count from 0, and a default value has none.
    private int _slotPlusOne;

    /// <summary>Ends the recording, and the file unless it has findings.</summary>
    public static void CloseFile()
    {
        AppDomain.CurrentDomain.ProcessExit -= OnProcessExit;
        if (s_file.IsValueCreated)
        {
            s_file.Value?.Close();
        }
    }

    public void Begin(long mappingAddress, long mappingBytes, long address, long bytes, string stack)
    {
        if (s_file.Value is RecordFile file)
        {
            _slotPlusOne = file.Begin(_slotPlusOne - 1, mappingAddress, mappingBytes, address, bytes, stack) + 1;
        }
    }

    public readonly void End(AllocationRecordState state, string? stack) => OfThis()?.End(_slotPlusOne - 1, state, stack);

    public readonly void MarkCorrupted(CorruptionKind kind, long offset) => OfThis()?.MarkCorrupted(_slotPlusOne - 1, kind, offset);

    public void Free()
    {
        OfThis()?.Free(_slotPlusOne - 1);
        _slotPlusOne = 0;
    }

    private readonly RecordFile? OfThis() => s_file.IsValueCreated ? s_file.Value : null;

    private static RecordFile? TryCreateFile()
    {
        string? path = AppContext.GetData("Allocator.Records") as string;
        path = string.IsNullOrEmpty(path) ? Environment.GetEnvironmentVariable("ALLOCATOR_RECORDS") : path;
        try
        {
            RecordFile file = RecordFile.Create(string.IsNullOrEmpty(path) ? DefaultPath() : path!);
            AppDomain.CurrentDomain.ProcessExit += OnProcessExit;
            AllocationRecords.CurrentPath = file.Path;
            return file;
        }
        catch (Exception e)
        {
            if (e is ThreadInterruptedException)
            {
                Thread.CurrentThread.Interrupt();
            }

            // Guarding goes on without: it is not worth the process's life, and CurrentPath says that there is none.
            AllocatorEventSource.Log.RecordsUnavailable(e.Message);
            Trace.TraceWarning("Allocator: no file for allocation records could be made, so faults will go unexplained. {0}", e.Message);
            return null;
        }
    }

    private static void OnProcessExit(object? sender, EventArgs e) => CloseFile();

    private static string DefaultPath()
    {
        using Process process = Process.GetCurrentProcess();
        return Path.Combine(Path.GetTempPath(), FormattableString.Invariant($"allocator-{process.Id}.records"));
    }
}
