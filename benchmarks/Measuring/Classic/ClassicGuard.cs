using System;
using System.Threading;

namespace Measuring.Classic;

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
