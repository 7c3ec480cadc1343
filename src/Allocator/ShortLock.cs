namespace Allocator;

/// <summary>
/// A lock for short sections that a return of memory has to enter. Entering never fails: <see cref="Thread.Interrupt"/> takes effect after
/// the section, because an exception in the middle of a return would leave counts wrong for ever. Not for sections that call the system or
/// users' code.
/// </summary>
internal sealed class ShortLock
{
    /// <summary>Gets whether the current thread is in a section. For contracts in Debug.</summary>
    public bool IsHeld => Monitor.IsEntered(this);

    /// <summary>Enters the lock, for a <c>using</c> block. Reentrant, as every monitor.</summary>
    public Section Enter()
    {
        bool wasInterrupted = false;
        bool isHeld = false;
        while (!isHeld)
        {
            try
            {
                Monitor.Enter(this, ref isHeld);
            }
            catch (ThreadInterruptedException)
            {
                // Only a thread that has to wait gets here, and this ends the interrupt: it is made anew behind the section.
                wasInterrupted = true;
            }
            catch (OutOfMemoryException)
            {
                // A monitor that is contended for the first time needs memory on some runtimes.
                Thread.Yield();
            }
        }

        return new Section(this, wasInterrupted);
    }

    /// <summary>A lock that is held until <see cref="Dispose"/>, which is called once.</summary>
    public readonly ref struct Section(ShortLock held, bool wasInterrupted)
    {
        public void Dispose()
        {
            Monitor.Exit(held);
            if (wasInterrupted)
            {
                Thread.CurrentThread.Interrupt();
            }
        }
    }
}
