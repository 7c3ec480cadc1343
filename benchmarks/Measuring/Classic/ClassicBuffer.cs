namespace Measuring.Classic;

/// <summary>The classic owner: a memory manager over unmanaged memory, with a guard of its own or that of its group.</summary>
public sealed unsafe class ClassicBuffer<T> : MemoryManager<T>
    where T : unmanaged
{
    private readonly void* _pointer;
    private readonly int _length;
    private readonly ClassicGuard _guard;
    private bool _disposed;

    public ClassicBuffer(nint pointer, int length, ClassicGuard guard)
    {
        _pointer = (void*)pointer;
        _length = length;
        _guard = guard;
    }

    public override Span<T> GetSpan()
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        return new Span<T>(_pointer, _length);
    }

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        _guard.AddReference();
        return new MemoryHandle((T*)_pointer + elementIndex, pinnable: this);
    }

    public override void Unpin() => _guard.ReleaseReference();

    protected override void Dispose(bool disposing)
    {
        if (!_disposed)
        {
            _disposed = true;
            _guard.Dispose();
        }
    }
}

/// <summary>Guards one block of a pool.</summary>
public sealed class ClassicBlockGuard(ClassicPool pool, nint block) : ClassicGuard
{
    private readonly ClassicPool _pool = pool;

    public nint Block { get; } = block;

    protected override void Release() => _pool.Return(Block);
}

/// <summary>Guards the blocks of a group.</summary>
public sealed class ClassicGroupGuard(ClassicPool pool, nint[] blocks) : ClassicGuard
{
    private readonly nint[] _blocks = blocks;

    protected override void Release() => pool.Return(_blocks);
}

/// <summary>Guards memory that came from the heap and goes back there.</summary>
public sealed class ClassicHeapGuard(nint memory) : ClassicGuard
{
    private readonly nint _memory = memory;

    protected override void Release() => Marshal.FreeHGlobal(_memory);
}

/// <summary>The classic lifetime guard: a finalizable object a rent, which counts references and gives the memory back at zero.</summary>
public abstract class ClassicGuard : IDisposable
{
    private int _references = 1;
    private int _disposed;

    ~ClassicGuard()
    {
        Interlocked.Exchange(ref _disposed, 1);
        Release();
    }

    public void AddReference() => Interlocked.Increment(ref _references);

    public void ReleaseReference()
    {
        if (Interlocked.Decrement(ref _references) == 0 && Volatile.Read(ref _disposed) == 1)
        {
            Release();
        }
    }

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) == 0)
        {
            ReleaseReference();
            GC.SuppressFinalize(this);
        }
    }

    protected abstract void Release();
}
