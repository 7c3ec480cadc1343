using System.IO.MemoryMappedFiles;
using System.Text;
using Allocator.Diagnostics;
using Allocator.Native;
using static Allocator.Diagnostics.AllocationRecords;

namespace Allocator.Guarding;

/// <summary>
/// A mapped file that outlives the process, with a slot for each mapping of Guarded mode. A fault ends a .NET process before any of our
/// code could run, so the explanation is written beforehand. Slots are reused as late as possible, so that mappings that are gone can
/// still be explained for a while. The holder of a slot writes to it without a lock: a page of the file may have to be read first.
/// </summary>
internal sealed class RecordFile
{
    // Recording never fails a rent: if no file could be created, this stays null.
    private static readonly Lazy<RecordFile?> s_file = new(TryCreate);

    private readonly ShortLock _lock = new();

    // At full size, so that freeing a slot takes no memory.
    private readonly Queue<int> _freedSlots = new(Layout.SlotCount);
    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _view;
    private int _usedSlots;
    private long _dropped;
    private int _isClosed;
    private volatile bool _holdsFinding;

    private RecordFile(string path)
    {
        Path = path;
        FileStream stream = SystemFile.CreatePrivate(path);
        try
        {
            // Takes real blocks of the disk, now: a write to a hole in a mapped file ends the process if the disk is full.
            byte[] zeros = new byte[64 * 1024];
            for (int written = 0; written < Layout.FileBytes; written += zeros.Length)
            {
                stream.Write(zeros, 0, Math.Min(zeros.Length, Layout.FileBytes - written));
            }

            stream.Flush();
            _file = MemoryMappedFile.CreateFromFile(
                stream, null, Layout.FileBytes, MemoryMappedFileAccess.ReadWrite, HandleInheritability.None, leaveOpen: false);
            _view = _file.CreateViewAccessor(0, Layout.FileBytes);
            WriteHeader();
        }
        catch
        {
            stream.Dispose();
            File.Delete(path);
            throw;
        }
    }

    public string Path { get; }

    public static RecordFile? GetOrCreate() => s_file.Value;

    /// <summary>
    /// Makes the file. An existing one is left alone: a process that died may have left it behind, or another may be writing it. A number
    /// before the extension makes the name unique.
    /// </summary>
    /// <exception cref="IOException">There are too many already. Other exceptions are about access or paths.</exception>
    public static RecordFile Create(string path)
    {
        const int MaximumFiles = 16;
        for (int number = 1; ; number++)
        {
            string numbered = number == 1 ? path : System.IO.Path.ChangeExtension(path, $"{number}{System.IO.Path.GetExtension(path)}");
            try
            {
                return new RecordFile(numbered);
            }
            catch (IOException) when (number < MaximumFiles && File.Exists(numbered))
            {
                // Tries the next number.
            }
        }
    }

    /// <summary>Writes the record of a rent, and returns its slot; -1 if all are in use.</summary>
    public int Begin(nint mappingAddress, long mappingBytes, nint address, long bytes, string stack)
    {
        int slot = TakeSlot();
        if (slot < 0)
        {
            CountDropped();
            return slot;
        }

        // As unsigned: in the upper half of a 32-bit process signed addresses would be negative, and the range empty.
        int at = Layout.Slot(slot);
        Write(at + Layout.StateAt, 0);
        Write(at + Layout.CorruptionAt, 0);
        Write(at + Layout.MappingAddressAt, (long)(nuint)mappingAddress);
        Write(at + Layout.MappingBytesAt, mappingBytes);
        Write(at + Layout.AddressAt, (long)(nuint)address);
        Write(at + Layout.BytesAt, bytes);
        Write(at + Layout.AllocatedAt, DateTime.UtcNow.Ticks);
        Write(at + Layout.ReturnedAt, 0L);
        Write(at + Layout.AllocatingThreadAt, Environment.CurrentManagedThreadId);
        Write(at + Layout.ReturningThreadAt, 0);
        Write(at + Layout.ReturnStackBytesAt, 0);
        WriteText(at + Layout.AllocationStackAt, at + Layout.AllocationStackBytesAt, stack);
        Write(at + Layout.StateAt, (int)AllocationRecordState.Rented);
        return slot;
    }

    /// <summary>Notes the end of the rent: returned, with a stack, or abandoned, without one.</summary>
    public void End(int slot, AllocationRecordState state, string? stack)
    {
        if (slot >= 0)
        {
            int at = Layout.Slot(slot);
            Write(at + Layout.ReturnedAt, DateTime.UtcNow.Ticks);
            Write(at + Layout.ReturningThreadAt, stack is null ? 0 : Environment.CurrentManagedThreadId);
            WriteText(at + Layout.ReturnStackAt, at + Layout.ReturnStackBytesAt, stack);
            Write(at + Layout.StateAt, (int)state);
        }
    }

    public void MarkCorrupted(int slot, CorruptionKind kind, long offset)
    {
        _holdsFinding = true;
        if (slot >= 0)
        {
            Write(Layout.Slot(slot) + Layout.CorruptionOffsetAt, offset);
            Write(Layout.Slot(slot) + Layout.CorruptionAt, (int)kind + 1);
        }
    }

    /// <summary>Frees the slot. Its record stays until another mapping needs it.</summary>
    public void Release(int slot)
    {
        if (slot >= 0)
        {
            Write(Layout.Slot(slot) + Layout.StateAt, (int)AllocationRecordState.Freed);
            using ShortLock.Section section = _lock.Enter();
            _freedSlots.Enqueue(slot);
        }
    }

    /// <summary>Ends the recording: later writes have no effect. Deletes the file unless it reports a corruption.</summary>
    public void Close()
    {
        ShortLock.AssertNoneHeld();
        if (Interlocked.Exchange(ref _isClosed, 1) == 0)
        {
            _view.Dispose();
            _file.Dispose();
            if (!_holdsFinding)
            {
                File.Delete(Path);
            }
        }
    }

    public static void CloseCurrent()
    {
        AppDomain.CurrentDomain.ProcessExit -= OnProcessExit;
        if (s_file.IsValueCreated)
        {
            s_file.Value?.Close();
        }
    }

    private static void OnProcessExit(object? sender, EventArgs e) => CloseCurrent();

    private static RecordFile? TryCreate()
    {
        string? path = AppContext.GetData("Allocator.Records") as string;
        path = string.IsNullOrEmpty(path) ? Environment.GetEnvironmentVariable("ALLOCATOR_RECORDS") : path;
        try
        {
            RecordFile file = Create(string.IsNullOrEmpty(path) ? DefaultPath() : path!);
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

            // Guarding continues without a file, and CurrentPath reports that there is none.
            Report(e);
            return null;
        }
    }

    // What throws here would be thrown by every later rent that is recorded.
    private static void Report(Exception failure)
    {
        try
        {
            AllocatorEventSource.Log.RecordsUnavailable(failure.Message);
            Trace.TraceWarning(
                "Allocator: the file for allocation records could not be created, so faults will not be explained. {0}", failure.Message);
        }
        catch (Exception)
        {
            // No memory, or a trace listener of the user.
        }
    }

    private static string DefaultPath()
    {
        using Process process = Process.GetCurrentProcess();
        return System.IO.Path.Combine(System.IO.Path.GetTempPath(), FormattableString.Invariant($"allocator-{process.Id}.records"));
    }

    // Empty if there is no managed memory: a return must not fail because of that.
    private static byte[] Encode(string? stack)
    {
        if (stack is null)
        {
            return [];
        }

        try
        {
            byte[] text = Encoding.UTF8.GetBytes(stack);
            if (text.Length > Layout.StackBytes)
            {
                // Whole lines: the frames nearest to the call matter most.
                int end = Array.LastIndexOf(text, (byte)'\n', Layout.StackBytes - 1);
                Array.Resize(ref text, end < 0 ? Layout.StackBytes : end);
            }

            return text;
        }
        catch (OutOfMemoryException)
        {
            return [];
        }
    }

    // New slots first, so that freed ones stay readable as long as possible.
    private int TakeSlot()
    {
        using ShortLock.Section section = _lock.Enter();
        return _usedSlots < Layout.SlotCount ? _usedSlots++ : _freedSlots.Count > 0 ? _freedSlots.Dequeue() : -1;
    }

    // Of several threads, the last to write has seen all of them.
    private void CountDropped()
    {
        long written;
        Interlocked.Increment(ref _dropped);
        do
        {
            written = Volatile.Read(ref _dropped);
            Write(Layout.DroppedAt, written);
        }
        while (written != Volatile.Read(ref _dropped));
    }

    private void WriteHeader()
    {
        using Process process = Process.GetCurrentProcess();
        Write(Layout.VersionAt, Layout.Version);
        Write(Layout.ProcessIdAt, process.Id);
        Write(Layout.StartedAt, process.StartTime.ToUniversalTime().Ticks);
        Write(Layout.SlotCountAt, Layout.SlotCount);
        Write(Layout.SlotBytesAt, Layout.SlotBytes);
        Write(Layout.MagicAt, Layout.Magic);
    }

    private void WriteText(int at, int lengthAt, string? text)
    {
        byte[] bytes = Encode(text);
        try
        {
            _view.WriteArray(at, bytes, 0, bytes.Length);
            Write(lengthAt, bytes.Length);
        }
        catch (ObjectDisposedException)
        {
            // Another thread has closed the file.
        }
    }

    private void Write<T>(int at, T value)
        where T : struct
    {
        try
        {
            _view.Write(at, ref value);
        }
        catch (ObjectDisposedException)
        {
            // As above.
        }
    }
}
