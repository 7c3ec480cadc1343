using System.IO.MemoryMappedFiles;
using System.Text;
using Allocator.Diagnostics;
using Allocator.Native;
using static Allocator.Diagnostics.AllocationRecords;

namespace Allocator.Guarding;

/// <summary>
/// A mapped file that outlives the process, with a slot for each watched mapping. A fault ends a .NET process before any of our code could
/// run, so the explanation is written beforehand. Slots are reused as late as possible, so that mappings that are gone can still be
/// explained for a while.
/// </summary>
internal sealed unsafe class RecordFile
{
    // Recording never fails a rent: if no file could be made, this stays null.
    private static readonly Lazy<RecordFile?> s_file = new(TryCreate);

    private readonly ShortLock _lock = new();

    // At full size, so that freeing a slot takes no memory.
    private readonly Queue<int> _freedSlots = new(Layout.SlotCount);
    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _view;
    private byte* _start;
    private int _usedSlots;
    private bool _holdsFinding;

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
            _view.SafeMemoryMappedViewHandle.AcquirePointer(ref _start);
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

    public static RecordFile? Current => s_file.IsValueCreated ? s_file.Value : null;

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
        byte[] text = Encode(stack);
        using ShortLock.Section section = _lock.Enter();
        int slot = _start is null ? -1 : TakeSlot();
        if (slot < 0)
        {
            return slot;
        }

        // As unsigned: in the upper half of a 32-bit process signed addresses would be negative, and the range empty.
        byte* at = _start + Layout.Slot(slot);
        *(int*)(at + Layout.StateAt) = 0;
        *(int*)(at + Layout.CorruptionAt) = 0;
        *(long*)(at + Layout.MappingAddressAt) = (long)(nuint)mappingAddress;
        *(long*)(at + Layout.MappingBytesAt) = mappingBytes;
        *(long*)(at + Layout.AddressAt) = (long)(nuint)address;
        *(long*)(at + Layout.BytesAt) = bytes;
        *(long*)(at + Layout.AllocatedAt) = DateTime.UtcNow.Ticks;
        *(long*)(at + Layout.ReturnedAt) = 0;
        *(int*)(at + Layout.AllocatingThreadAt) = Environment.CurrentManagedThreadId;
        *(int*)(at + Layout.ReturningThreadAt) = 0;
        *(int*)(at + Layout.AllocationStackBytesAt) = text.Length;
        *(int*)(at + Layout.ReturnStackBytesAt) = 0;
        text.CopyTo(new Span<byte>(at + Layout.AllocationStackAt, text.Length));
        *(int*)(at + Layout.StateAt) = (int)AllocationRecordState.Rented;
        return slot;
    }

    /// <summary>Notes the end of the rent: returned, with a stack, or abandoned, without one.</summary>
    public void End(int slot, AllocationRecordState state, string? stack)
    {
        byte[] text = Encode(stack);
        using ShortLock.Section section = _lock.Enter();
        if (slot >= 0 && _start is not null)
        {
            byte* at = _start + Layout.Slot(slot);
            *(long*)(at + Layout.ReturnedAt) = DateTime.UtcNow.Ticks;
            *(int*)(at + Layout.ReturningThreadAt) = stack is null ? 0 : Environment.CurrentManagedThreadId;
            text.CopyTo(new Span<byte>(at + Layout.ReturnStackAt, text.Length));
            *(int*)(at + Layout.ReturnStackBytesAt) = text.Length;
            *(int*)(at + Layout.StateAt) = (int)state;
        }
    }

    public void MarkCorrupted(int slot, CorruptionKind kind, long offset)
    {
        using ShortLock.Section section = _lock.Enter();
        _holdsFinding = true;
        if (slot >= 0 && _start is not null)
        {
            byte* at = _start + Layout.Slot(slot);
            *(long*)(at + Layout.CorruptionOffsetAt) = offset;
            *(int*)(at + Layout.CorruptionAt) = (int)kind + 1;
        }
    }

    /// <summary>Frees the slot. Its record stays until another mapping needs it.</summary>
    public void Release(int slot)
    {
        using ShortLock.Section section = _lock.Enter();
        if (slot >= 0)
        {
            _freedSlots.Enqueue(slot);
            if (_start is not null)
            {
                *(int*)(_start + Layout.Slot(slot) + Layout.StateAt) = (int)AllocationRecordState.Freed;
            }
        }
    }

    /// <summary>Ends the recording. Deletes the file unless it reports a corruption.</summary>
    public void Close()
    {
        bool holdsFinding;
        using (_lock.Enter())
        {
            if (_start is null)
            {
                return;
            }

            _start = null;
            holdsFinding = _holdsFinding;
        }

        // No thread writes any more.
        ShortLock.AssertNoneHeld();
        _view.SafeMemoryMappedViewHandle.ReleasePointer();
        _view.Dispose();
        _file.Dispose();
        if (!holdsFinding)
        {
            File.Delete(Path);
        }
    }

    public static void CloseCurrent()
    {
        AppDomain.CurrentDomain.ProcessExit -= OnProcessExit;
        Current?.Close();
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

            // Guarding goes on without a file: it is not worth the process's life, and CurrentPath reports that there is none.
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
                "Allocator: no file for allocation records could be made, so faults will go unexplained. {0}", failure.Message);
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
        if (_usedSlots < Layout.SlotCount)
        {
            return _usedSlots++;
        }

        if (_freedSlots.Count > 0)
        {
            return _freedSlots.Dequeue();
        }

        ++*(long*)(_start + Layout.DroppedAt);
        return -1;
    }

    private void WriteHeader()
    {
        using Process process = Process.GetCurrentProcess();
        *(int*)(_start + Layout.VersionAt) = Layout.Version;
        *(int*)(_start + Layout.ProcessIdAt) = process.Id;
        *(long*)(_start + Layout.StartedAt) = process.StartTime.ToUniversalTime().Ticks;
        *(int*)(_start + Layout.SlotCountAt) = Layout.SlotCount;
        *(int*)(_start + Layout.SlotBytesAt) = Layout.SlotBytes;
        *(long*)(_start + Layout.MagicAt) = Layout.Magic;
    }
}
