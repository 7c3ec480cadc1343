using System.Collections;
using System.Reflection;

namespace Allocator.Tests.Fuzzing;

/// <summary>
/// An interrupt of the current thread that is pending during one call. It takes effect where a thread waits, so another thread holds locks
/// of the library until this one waits for them.
/// </summary>
internal sealed class Interruption
{
    private static readonly ManualResetEvent s_never = new(initialState: false);

    private readonly TestSetup _setup;
    private readonly Action? _onWait;
    private readonly Thread _interrupted = Thread.CurrentThread;
    private readonly Thread _holder;
    private volatile bool _isHeld;
    private volatile bool _isPending;
    private volatile bool _isOver;

    /// <param name="setup">Whose clock is waited by, and in which the call is made.</param>
    /// <param name="random">Chooses what is held.</param>
    /// <param name="roots">Where locks are looked for.</param>
    public Interruption(TestSetup setup, Random random, IEnumerable<object> roots)
    {
        _setup = setup;
        _onWait = setup.Clock.OnWait;
        ShortLock[] locks = [.. FindLocks(roots).Where(_ => random.Next(2) == 0)];
        _holder = new Thread(() => Hold(locks));
        _holder.Start();

        // No wait: that would let the locks go.
        while (!_isHeld)
        {
            Thread.Yield();
        }
    }

    /// <summary>Begins it.</summary>
    public void Begin()
    {
        // Timers have a lock of the runtime's, and a pause is one as it is. A wait is not over before it began.
        _setup.Clock.OnTimerStart = Wait;
        _setup.Clock.OnDelay = Wait;
        _setup.Clock.OnWait = null;
        Thread.CurrentThread.Interrupt();
        _isPending = true;
    }

    /// <summary>Ends it.</summary>
    /// <returns>Whether the interrupt was still to come.</returns>
    public bool End()
    {
        _setup.Clock.OnTimerStart = null;
        _setup.Clock.OnDelay = null;
        _setup.Clock.OnWait = _onWait;
        bool wasPending = false;
        try
        {
            Wait();
        }
        catch (ThreadInterruptedException)
        {
            wasPending = true;
        }

        _isOver = true;
        _holder.Join();
        return wasPending;
    }

    private static void Wait() => s_never.WaitOne(1);

    // Outstanding ones are left out: finalizers may have two at a time, in another order.
    private void Hold(ShortLock[] locks)
    {
        ShortLock[] held = Array.FindAll(
            locks, static taken => Interlocked.CompareExchange(ref OwnerOf(taken), Environment.CurrentManagedThreadId, 0) == 0);
        _isHeld = true;
        SpinWait.SpinUntil(() => _isOver || (_isPending && (_interrupted.ThreadState & ThreadState.WaitSleepJoin) != 0));
        Array.ForEach(held, static taken => Volatile.Write(ref OwnerOf(taken), 0));
    }

    // Several at a time without waiting for any, which the lock itself does not offer.
    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_owner")]
    private static extern ref int OwnerOf(ShortLock taken);

    // Whatever locks the library has, now and later: all that can be reached through fields.
    private static List<ShortLock> FindLocks(IEnumerable<object> roots)
    {
        List<ShortLock> locks = [];
        HashSet<object> seen = new(roots, ReferenceEqualityComparer.Instance);
        Queue<object> left = new(seen);
        while (left.TryDequeue(out object? found))
        {
            if (found is ShortLock held)
            {
                locks.Add(held);
            }

            foreach (object part in PartsOf(found).Where(seen.Add))
            {
                left.Enqueue(part);
            }
        }

        return locks;
    }

    private static IEnumerable<object> PartsOf(object whole)
    {
        if (whole is Array array)
        {
            return ((IEnumerable)array).OfType<object>().Where(IsOfLibrary);
        }

        const BindingFlags Own = BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public | BindingFlags.DeclaredOnly;
        List<object> parts = [];
        for (Type? type = whole.GetType(); type is not null && type != typeof(object); type = type.BaseType)
        {
            IEnumerable<FieldInfo> references = type.GetFields(Own).Where(static field => !field.FieldType.IsValueType);
            parts.AddRange(references.Select(field => field.GetValue(whole)).OfType<object>().Where(IsOfLibrary));
        }

        return parts;
    }

    private static bool IsOfLibrary(object value)
    {
        Type element = value.GetType().GetElementType() ?? value.GetType();
        return !element.IsValueType && element.Assembly == typeof(MemoryAllocator).Assembly;
    }
}
