using System.Collections.Concurrent;

namespace Allocator.Adapters;

/// <summary>
/// All objects that native code knows, by number. It keeps them reachable until they are removed; and a number that is given back a second
/// time stands for nothing, where a handle would stand for another object by then.
/// </summary>
internal static class NativeContexts
{
    private static readonly ConcurrentDictionary<nint, object> s_objects = new();
    private static long s_last;

    /// <summary>Adds an object and returns its number, never 0.</summary>
    public static nint Add(object value)
    {
        nint number;
        do
        {
            // With 32 bits numbers come round again, after four billion.
            number = unchecked((nint)Interlocked.Increment(ref s_last));
        }
        while (number == 0 || !s_objects.TryAdd(number, value));

        return number;
    }

    /// <summary>Returns the object of a number; null where there is none, or one of another class.</summary>
    public static T? Find<T>(nint number)
        where T : class => s_objects.TryGetValue(number, out object? value) ? value as T : null;

    /// <summary>Removes an object. True for the one caller that removed it.</summary>
    public static bool TryRemove(nint number)
    {
        try
        {
            return s_objects.TryRemove(number, out _);
        }
        catch (OutOfMemoryException)
        {
            // The dictionary's own lock may need memory of the runtime's.
            Thread.Yield();
            return TryRemove(number);
        }
        catch (ThreadInterruptedException)
        {
            // A contended lock of the dictionary ends the interrupt, which takes effect behind the removal instead.
            bool isRemoved = TryRemove(number);
            Thread.CurrentThread.Interrupt();
            return isRemoved;
        }
    }
}
