namespace Allocator.Concurrency.Interleaving;

/// <summary>
/// A few threads over state of their own, and what must hold when they have ended. Made anew for each schedule, so it must be the same
/// each time: no clock, no randomness, nothing left from before.
/// </summary>
public abstract class Scenario : IDisposable
{
    private readonly List<ScenarioThread> _threads = [];

    internal IReadOnlyList<ScenarioThread> Threads => _threads;

    /// <summary>Says whether what the threads have left is right; throws where it is not.</summary>
    public abstract void Check();

    public virtual void Dispose()
    {
    }

    /// <summary>Adds a thread.</summary>
    /// <param name="name">What it is called in a report.</param>
    /// <param name="body">What is interleaved with the others.</param>
    /// <param name="before">What the same thread does first, alone.</param>
    protected void Thread(string name, Action body, Action? before = null) => _threads.Add(new ScenarioThread(name, body, before));
}
