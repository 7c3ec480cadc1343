namespace Allocator.Diagnostics;

/// <summary>
/// Watches the allocations of a piece of code, of any size and from any allocator, and lists those that were not returned. Created by
/// <see cref="MemoryDiagnostics.BeginScope"/>, mainly for tests.
/// </summary>
/// <remarks>
/// It follows the flow of execution: awaited code and tasks and threads started within the scope belong to it; tests that run in parallel
/// do not. While a scope is open, each allocation within it captures its stack, which costs tens of microseconds. Scopes may be nested; the
/// outer one then sees what the inner one does. Thread-safe.
/// </remarks>
public sealed class AllocationScope : IDisposable
{
    private static readonly AsyncLocal<AllocationScope?> s_current = new();

    private readonly ShortLock _lock = new(mayAllocate: true);
    private readonly Dictionary<AllocationTrace, long> _outstanding = [];
    private readonly AllocationScope? _outer;
    private long _allocations;
    private int _isDisposed;

    internal AllocationScope()
    {
        _outer = Current;
        s_current.Value = this;
    }

    /// <summary>Gets the innermost open scope of the running code.</summary>
    internal static AllocationScope? Current
    {
        get
        {
            AllocationScope? scope = s_current.Value;
            while (scope is not null && Volatile.Read(ref scope._isDisposed) != 0)
            {
                scope = scope._outer;
            }

            return scope;
        }
    }

    /// <summary>Lists the allocations of the scope that are outstanding or pinned, oldest first.</summary>
    public IReadOnlyList<OutstandingAllocation> GetOutstanding()
    {
        using ShortLock.Section section = _lock.Enter();
        return [.. _outstanding.OrderBy(static pair => pair.Value).Select(static pair => new OutstandingAllocation(pair.Key))];
    }

    /// <summary>Throws if anything allocated within the scope has not been returned.</summary>
    /// <exception cref="OutstandingAllocationsException">
    /// Something was not returned; the message names each allocation with its size, age and stack.
    /// </exception>
    public void AssertNothingOutstanding()
    {
        IReadOnlyList<OutstandingAllocation> outstanding = GetOutstanding();
        if (outstanding.Count > 0)
        {
            throw new OutstandingAllocationsException(outstanding);
        }
    }

    /// <summary>Ends the scope. It asserts nothing, so that it cannot hide an exception that is being thrown.</summary>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) == 0)
        {
            MemoryDiagnostics.EndScope();
            if (s_current.Value == this)
            {
                s_current.Value = _outer;
            }
        }
    }

    /// <summary>Describes the scope in a line: how much was allocated in it, and how much of that is outstanding.</summary>
    // Without the lock: a debugger calls this while another thread may have it.
    public override string ToString() =>
        Invariant($"{nameof(AllocationScope)}: {_outstanding.Count:N0} of {Volatile.Read(ref _allocations):N0} allocations outstanding");

    internal void Add(AllocationTrace trace)
    {
        for (AllocationScope? scope = this; scope is not null; scope = scope._outer)
        {
            using ShortLock.Section section = scope._lock.Enter();
            scope._outstanding[trace] = ++scope._allocations;
        }
    }

    internal void Remove(AllocationTrace trace)
    {
        for (AllocationScope? scope = this; scope is not null; scope = scope._outer)
        {
            using ShortLock.Section section = scope._lock.Enter();
            scope._outstanding.Remove(trace);
        }
    }
}

/// <summary>An allocation that has not been returned.</summary>
public sealed class OutstandingAllocation
{
    private readonly AllocationTrace _trace;

    internal OutstandingAllocation(AllocationTrace trace)
    {
        _trace = trace;
        Age = trace.Age;
    }

    /// <summary>Gets its capacity, in bytes: whole blocks if the pool serves it.</summary>
    public long Bytes => _trace.Bytes;

    /// <summary>Gets the time from the allocation to the moment when it was listed.</summary>
    public TimeSpan Age { get; }

    /// <summary>Gets the name of the allocator, from <see cref="MemoryAllocatorOptions.Name"/>. Null if it has none.</summary>
    public string? AllocatorName => _trace.AllocatorName;

    /// <summary>Gets the stack of the allocating call, from the caller of the library on.</summary>
    public string AllocationStackTrace => _trace.StackTrace ?? "";

    /// <summary>Describes the allocation in full, its stack included.</summary>
    public override string ToString() => _trace.ToString();
}

/// <summary>Reports allocations of a scope that have not been returned, with their stacks.</summary>
public sealed class OutstandingAllocationsException : InvalidOperationException
{
    // A test that leaks in a loop would otherwise fill the screen with one stack.
    private const int Named = 10;

    internal OutstandingAllocationsException(IReadOnlyList<OutstandingAllocation> allocations)
        : base(Describe(allocations)) => Allocations = allocations;

    /// <summary>Gets the allocations that have not been returned, the oldest first.</summary>
    public IReadOnlyList<OutstandingAllocation> Allocations { get; }

    private static string Describe(IReadOnlyList<OutstandingAllocation> allocations)
    {
        string count = allocations.Count == 1 ? "1 allocation was" : Invariant($"{allocations.Count} allocations were");
        string named = string.Concat(allocations.Take(Named).Select(static (allocation, i) => Invariant($"\n{i + 1}. {allocation}")));
        string rest = allocations.Count > Named ? Invariant($"\n... and {allocations.Count - Named} more.") : "";
        return $"{count} not given back within this scope:{named}{rest}";
    }
}
