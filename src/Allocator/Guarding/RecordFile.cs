using System.IO.MemoryMappedFiles;
using System.Text;
using Allocator.Diagnostics;
using Allocator.Native;
using static Allocator.Diagnostics.AllocationRecords;

namespace Allocator.Guarding;

/// <summary>
/// A mapped file that outlives the process, with a slot for each watched mapping. A fault ends a .NET process before any code of ours
/// could run: so what would explain it is written beforehand. Slots are used again as late as possible, so that mappings that are gone can
/// still be explained for a while.
/// </summary>
internal sealed unsafe class RecordFile
{
    // Recording never fails a rent: where no file could be made this is null for good.
    private static readonly Lazy<RecordFile?> s_file = new(TryCreate);

    private readonly ShortLock _lock = new();

    // In full, so that giving a slot up takes no memory.
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
            // Real blocks of the disk, and now: a write to a hole in a mapped file ends the process where the disk is full.
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

    /// <summary>Gets the process's file, where there is one by now.</summary>
    public static RecordFile? Current => s_file.IsValueCreated ? s_file.Value : null;

    public static RecordFile? GetOrCreate() => s_file.Value;

    /// <summary>
    /// Makes the file. One that exists is left alone: it may be what another process left behind in dying, or is writing. A number before
    /// the extension makes the name new.
    /// </summary>
    /// <exception cref="IOException">There are too many already. Other exceptions are of access or of paths.</exception>
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
                // The next one.
            }
        }
    }

    /// <summary>Writes the record of a rent, and returns its slot; -1 where all are in use.</summary>
    public int Begin(nint mappingAddress, long mappingBytes, nint address, long bytes, string stack)
    {
        byte[] text = Encode(stack);
        using (_lock.Enter())
        {
            int slot = _start is null ? -1 : TakeSlot();
            if (slot < 0)
            {
                return slot;
            }

            // As unsigned: the upper half of the addresses of a 32-bit process would be negative, and contain nothing.
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
    }

    /// <summary>Notes that the buffer came back: returned, with a stack, or abandoned, with none.</summary>
    public void End(int slot, AllocationRecordState state, string? stack)
    {
        byte[] text = Encode(stack);
        using (_lock.Enter())
        {
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
    }

    public void MarkCorrupted(int slot, CorruptionKind kind, long offset)
    {
        using (_lock.Enter())
        {
            _holdsFinding = true;
            if (slot >= 0 && _start is not null)
            {
                byte* at = _start + Layout.Slot(slot);
                *(long*)(at + Layout.CorruptionOffsetAt) = offset;
                *(int*)(at + Layout.CorruptionAt) = (int)kind + 1;
            }
        }
    }

    /// <summary>Gives the slot up. What it says stays until another mapping needs it.</summary>
    public void Release(int slot)
    {
        using (_lock.Enter())
        {
            if (slot >= 0)
            {
                _freedSlots.Enqueue(slot);
                if (_start is not null)
                {
                    *(int*)(_start + Layout.Slot(slot) + Layout.StateAt) = (int)AllocationRecordState.Freed;
                }
            }
        }
    }

    /// <summary>Ends the recording, and deletes the file unless it says of something that it was found corrupted.</summary>
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

    /// <summary>Ends the recording of the process.</summary>
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

            // Guarding goes on without: it is not worth the process's life, and CurrentPath says that there is none.
            AllocatorEventSource.Log.RecordsUnavailable(e.Message);
            Trace.TraceWarning("Allocator: no file for allocation records could be made, so faults will go unexplained. {0}", e.Message);
            return null;
        }
    }

    private static string DefaultPath()
    {
        using Process process = Process.GetCurrentProcess();
        return System.IO.Path.Combine(System.IO.Path.GetTempPath(), FormattableString.Invariant($"allocator-{process.Id}.records"));
    }

    // Nothing where there is no managed memory: a return must not fail for want of it.
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
                // Whole lines: the frames nearest to the call are the ones that matter.
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

    // New ones first, so that what was freed stays readable as long as it can.
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
