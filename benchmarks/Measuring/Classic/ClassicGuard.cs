using System;
using System.Threading;

namespace Measuring.Classic;

/// <summary>The classic lifetime guard: a finalizable object a rent, which counts references and gives the memory back at zero.</summary>
public abstract class ClassicGuard : IDisposable
{
    private int _references = 1;
    private int _disposed;

    /// <summary>Gives back what was never disposed.</summary>
    ~ClassicGuard()
    {
        Interlocked.Exchange(ref _disposed, 1);
        Release();
    }

    /// <summary>Takes a reference, for a pin.</summary>
    public void AddReference() => Interlocked.Increment(ref _references);

    /// <summary>Drops a reference.</summary>
    public void ReleaseReference()
    {
        if (Interlocked.Decrement(ref _references) == 0 && Volatile.Read(ref _disposed) == 1)
        {
            Release();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) == 0)
        {
            ReleaseReference();
            GC.SuppressFinalize(this);
        }
    }

    /// <summary>Gives the memory back.</summary>
    protected abstract void Release();
}
