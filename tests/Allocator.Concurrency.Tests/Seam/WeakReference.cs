using System.Diagnostics.CodeAnalysis;

namespace System;

/// <summary>A weak reference that a scenario can clear, as a collection does that finds the target unreachable.</summary>
internal sealed class WeakReference<T>
    where T : class
{
    private readonly WeakReference _reference;

    public WeakReference(T target, bool trackResurrection = false) => _reference = new WeakReference(target, trackResurrection);

    public bool TryGetTarget([NotNullWhen(true)] out T? target)
    {
        target = (T?)_reference.Target;
        return target is not null;
    }

    public void Clear() => _reference.Target = null;
}
