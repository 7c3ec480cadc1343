using System.Collections.Concurrent;

namespace Allocator.Adapters;

/// <summary>
/// All objects that native code knows, by number. It keeps them reachable until they are removed. A number that is passed again after that
/// finds nothing, whereas a handle could stand for another object by then.
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
            // Numbers of 32 bits start again after four billion.
            number = unchecked((nint)Interlocked.Increment(ref s_last));
        }
        while (number == 0 || !s_objects.TryAdd(number, value));

        return number;
    }

    /// <summary>Returns the object of a number; null if there is none, or if it is of another class.</summary>
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
            // The dictionary's own lock may need memory of the runtime.
            Thread.Yield();
            return TryRemove(number);
        }
        catch (ThreadInterruptedException)
        {
            // A contended lock of the dictionary consumes the interrupt; so it is raised again behind the removal.
            bool isRemoved = TryRemove(number);
            Thread.CurrentThread.Interrupt();
            return isRemoved;
        }
    }
}
