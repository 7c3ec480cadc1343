using Allocator.Adapters;
using Allocator.Diagnostics;

namespace Allocator;

/// <summary>
/// Functions with the C calling convention that native codecs allocate by. Made by <see cref="MemoryAllocator.CreateNativeCallbacks"/>.
/// </summary>
/// <remarks>
/// Memory starts on a boundary of 64 bytes, has the readable tail of all unmanaged buffers, is not cleared, and is at most 2 GB a call.
/// A refusal is a null pointer, which codecs report as an error of their own. All functions may be called from any thread, native ones
/// included; they are the same for all objects and are never freed. An address that was not allocated here, or was freed already, is
/// reported by <see cref="MemoryDiagnostics.CorruptionFound"/> and left alone. A call takes about a microsecond.
/// </remarks>
public sealed class NativeAllocationCallbacks : IDisposable
{
    // What dav1d asks for its pictures, and a cache line.
    private const int AlignmentInBytes = 64;

    private const int ShardBits = 4;

    // Kept for ever: native code may call them at any time.
    private static readonly AllocateFunction s_allocate = static (context, size) => AllocateFor(context, size);
    private static readonly AllocateArrayFunction s_allocateArray =
        static (context, items, size) => AllocateFor(context, (ulong)items * size);
    private static readonly ReallocateFunction s_reallocate = ReallocateFor;
    private static readonly FreeFunction s_free = FreeFor;

    private readonly MemoryAllocator _allocator;
    private readonly Shard[] _shards = new Shard[1 << ShardBits];
    private long _outstandingBytes;
    private int _isDisposed;

    internal NativeAllocationCallbacks(MemoryAllocator allocator)
    {
        _allocator = allocator;
        for (int i = 0; i < _shards.Length; i++)
        {
            _shards[i] = new Shard();
        }

        Context = NativeContexts.Add(this);
    }

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    private delegate nint AllocateFunction(nint context, nuint size);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    private delegate nint AllocateArrayFunction(nint context, uint items, uint size);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    private delegate nint ReallocateFunction(nint context, nint address, nuint size);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    private delegate void FreeFunction(nint context, nint address);

    /// <summary>Gets the context to pass to each function: a number that stands for this object, not an address.</summary>
    public nint Context { get; }

    /// <summary>Gets <c>void* allocate(void* context, size_t size)</c>, as libjxl takes it.</summary>
    public nint Allocate { get; } = Marshal.GetFunctionPointerForDelegate(s_allocate);

    /// <summary>Gets <c>void* allocate(void* context, unsigned items, unsigned size)</c>, as zlib takes it.</summary>
    public nint AllocateArray { get; } = Marshal.GetFunctionPointerForDelegate(s_allocateArray);

    /// <summary>
    /// Gets <c>void* reallocate(void* context, void* address, size_t size)</c>. It keeps the contents, allocates if <c>address</c> is
    /// null, and frees if <c>size</c> is 0. If refused, it returns null, and the old memory stays as it is.
    /// </summary>
    public nint Reallocate { get; } = Marshal.GetFunctionPointerForDelegate(s_reallocate);

    /// <summary>Gets <c>void free(void* context, void* address)</c>. Null is ignored.</summary>
    public nint Free { get; } = Marshal.GetFunctionPointerForDelegate(s_free);

    /// <summary>Gets the bytes that native code has asked for and not freed; 1 for a request of 0.</summary>
    /// <remarks>If a reallocation kept its memory, because it became only a little shorter, it counts as before.</remarks>
    public long OutstandingBytes => Interlocked.Read(ref _outstandingBytes);

    private bool IsDisposed => Volatile.Read(ref _isDisposed) != 0;

    /// <summary>
    /// Ends allocation: the functions return null from now on. Outstanding memory stays valid, and can be freed as long as any of it is
    /// outstanding. Further calls have no effect.
    /// </summary>
    public void Dispose()
    {
        Interlocked.Exchange(ref _isDisposed, 1);
        EndContextWhereDone();
    }

    /// <inheritdoc/>
    public override string ToString() =>
        Invariant($"{nameof(NativeAllocationCallbacks)}, {OutstandingBytes:N0} bytes outstanding{(IsDisposed ? ", disposed" : "")}");

    private static nint AllocateFor(nint context, ulong size) =>
        NativeContexts.Find<NativeAllocationCallbacks>(context)?.TryAllocate(size) ?? 0;

    private static nint ReallocateFor(nint context, nint address, nuint size)
    {
        if (address == 0)
        {
            return AllocateFor(context, size);
        }

        if (size == 0)
        {
            FreeFor(context, address);
            return 0;
        }

        try
        {
            if (NativeContexts.Find<NativeAllocationCallbacks>(context)?.TryReallocate(address, size) is nint moved)
            {
                return moved;
            }
        }
        catch (ObjectDisposedException)
        {
            // Another thread has freed it meanwhile.
        }

        ReportInvalidFree(address);
        return 0;
    }

    private static void FreeFor(nint context, nint address)
    {
        if (address != 0 && NativeContexts.Find<NativeAllocationCallbacks>(context)?.TryFree(address) != true)
        {
            ReportInvalidFree(address);
        }
    }

    private static void ReportInvalidFree(nint address)
    {
        try
        {
            MemoryDiagnostics.ReportCorruption(new CorruptionEventArgs(
                CorruptionKind.InvalidFree, bytes: 0, address, age: default, allocationStackTrace: null, CallerStack.Capture()));
        }
        catch (Exception)
        {
            // No memory for the report. No exception can pass native code, and the address was left alone.
        }
    }

    private static void Return(IMemoryOwner<byte>? owner)
    {
        try
        {
            owner?.Dispose();
        }
        catch (Exception)
        {
            // A corruption has been raised as an event, or there was no managed memory for that. The memory is back in either case.
        }
    }

    // No exception can pass native code: all of them are refusals.
    private nint TryAllocate(ulong size)
    {
        if (size > int.MaxValue)
        {
            return 0;
        }

        // Counted before IsDisposed is read: either Dispose sees this count, or this call sees that Dispose was called.
        int length = Math.Max((int)size, 1);
        Interlocked.Add(ref _outstandingBytes, length);
        IMemoryOwner<byte>? owner = null;
        try
        {
            if (!IsDisposed)
            {
                owner = _allocator.AllocateAligned<byte>(length, AlignmentInBytes);
                nint address = AddressOf(owner);
                Shard shard = ShardOf(address);
                using (shard.Lock.Enter())
                {
                    shard.Owners.Add(address, owner);
                }

                return address;
            }
        }
        catch (Exception exception)
        {
            Return(owner);
            if (exception is ThreadInterruptedException)
            {
                Thread.CurrentThread.Interrupt();
            }
        }

        Discount(length);
        return 0;
    }

    // Null for an address that was not allocated here.
    private nint? TryReallocate(nint address, nuint size)
    {
        Shard shard = ShardOf(address);
        IMemoryOwner<byte>? owner;
        using (shard.Lock.Enter())
        {
            _ = shard.Owners.TryGetValue(address, out owner);
        }

        if (owner is null)
        {
            return null;
        }

        // Memory that shrinks to less than half is copied. Otherwise, or if there is no memory for the copy, it stays.
        Span<byte> contents = owner.Memory.Span;
        bool fits = size <= (nuint)contents.Length;
        if (fits && size > (nuint)contents.Length / 2)
        {
            return address;
        }

        nint moved = TryAllocate(size);
        if (moved == 0)
        {
            return fits ? address : 0;
        }

        Copy(fits ? contents.Slice(0, (int)size) : contents, moved);
        TryFree(address);
        return moved;
    }

    private bool TryFree(nint address)
    {
        Shard shard = ShardOf(address);
        IMemoryOwner<byte>? owner;
        using (shard.Lock.Enter())
        {
            if (!shard.Owners.TryGetValue(address, out owner))
            {
                return false;
            }

            shard.Owners.Remove(address);
        }

        int length = owner.Memory.Length;
        Return(owner);
        Discount(length);
        return true;
    }

    private void Discount(int length)
    {
        Interlocked.Add(ref _outstandingBytes, -length);
        EndContextWhereDone();
    }

    private void EndContextWhereDone()
    {
        if (IsDisposed && OutstandingBytes == 0)
        {
            NativeContexts.TryRemove(Context);
        }
    }

    private Shard ShardOf(nint address) => _shards[unchecked((uint)(address / AlignmentInBytes) * 0x9E3779B1u) >> (32 - ShardBits)];

    private static unsafe nint AddressOf(IMemoryOwner<byte> owner)
    {
        Debug.Assert(!MemoryMarshal.TryGetArray<byte>(owner.Memory, out _), "Aligned memory is never an array, so it stays where it is.");
        return (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(owner.Memory.Span));
    }

    private static unsafe void Copy(ReadOnlySpan<byte> source, nint destination) =>
        source.CopyTo(new Span<byte>((void*)destination, source.Length));

    // Owners by address: a free of any other address finds nothing.
    private sealed class Shard
    {
        public readonly ShortLock Lock = new(mayAllocate: true);
        public readonly Dictionary<nint, IMemoryOwner<byte>> Owners = [];
    }
}
