using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Measuring.Classic;

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
