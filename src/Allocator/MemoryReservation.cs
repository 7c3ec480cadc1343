using Allocator.Allocators;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;

namespace Allocator;

/// <summary>
/// A part of an allocator's memory budget that is reserved for a whole job before it starts. It is itself an allocator: pass it to any code
/// that takes one. Memory allocated from it counts against it and is returned to it. A request that exceeds it waits for the budget, or
/// throws, like any other request.
/// </summary>
/// <remarks>
/// Made by <see cref="MemoryAllocator.ReserveAsync(long, CancellationToken)"/>, or without an estimate by
/// <see cref="MemoryAllocator.ReserveAsync(string, CancellationToken)"/>, and similar methods. Thread-safe. Its memory is the parent's:
/// blocks, statistics and trimming are shared. If all outstanding memory belongs to reservations that wait for more, the youngest fails
/// with a <see cref="MemoryLimitExceededException"/> that says so. If nothing limits the allocator, it counts and limits nothing.
/// </remarks>
[DebuggerDisplay("{DebuggerText,nq}")]
public sealed class MemoryReservation : MemoryAllocator
{
    private readonly MemoryAllocator _parent;
    private readonly ReservationAccount _account;

    internal MemoryReservation(MemoryAllocator parent, ReservationAccount account)
    {
        // It may outlive the reservation that it is a part of.
        _parent = parent is MemoryReservation outer ? outer._parent : parent;
        _account = account;
    }

    /// <summary>Returns the unused part of a reservation that was never disposed, which no other request could get otherwise.</summary>
    // Outstanding memory references the account, not this object.
    ~MemoryReservation()
    {
        if (_account?.Close(byFinalizer: true) == true)
        {
            _parent.Counters.Count(UsageFigure.Abandoned);
        }
    }

    /// <inheritdoc/>
    public override string? Name => _parent.Name;

    /// <summary>Gets the reserved bytes, including growth. Kept after <see cref="Dispose"/>.</summary>
    public long ReservedBytes => _account.ReservedBytes;

    /// <summary>Gets how much can be allocated without waiting, in bytes of capacity; 0 if all is outstanding or it is disposed.</summary>
    public long RemainingBytes => _account.RemainingBytes;

    /// <summary>
    /// Gets the most that was outstanding at once so far, in bytes of capacity: the real need of the job. Divided by the job's estimate,
    /// it is the factor for the next estimate. Kept after <see cref="Dispose"/>.
    /// </summary>
    public long PeakUsedBytes => _account.PeakUsedBytes;

    /// <summary>
    /// Gets the estimated peak of what the job took elsewhere: native memory of libraries, arrays, child processes. It is read from the
    /// container every 5 to 20 ms while a named job runs, and is exact if the job ran alone, otherwise its share of the sum. 0 where no
    /// control group's limit counts resident memory. Kept after <see cref="Dispose"/>.
    /// </summary>
    public long PeakElsewhereBytes => _account.PeakElsewhereBytes;

    /// <summary>
    /// Gets how many requests of the job exceeded its reservation and were granted only because the budget had room. If this is above 0,
    /// the reservation was too small. Kept after <see cref="Dispose"/>, which writes it to the <c>EventSource</c> named <c>Allocator</c>,
    /// as <c>ReservationExceeded</c>, unless the job is by name.
    /// </summary>
    public long OverflowCount => _account.OverflowCount;

    /// <summary>
    /// Gets how many of the job's allocations were refused for lack of memory. If this is above 0, the job probably failed, whatever
    /// exception it threw. For a reservation that was made from another, that one counts them. Kept after <see cref="Dispose"/>.
    /// </summary>
    public long RefusalCount => _account.RefusalCount;

    internal override BudgetAccount? Account => _account;

    internal override BudgetAccount? AccountOfJobs => _account;

    internal override LearnedJobs Jobs => _parent.Jobs;

    internal override AllocatorCounters Counters => _parent.Counters;

    internal override AllocatorSettings Settings => _parent.Settings;

    /// <inheritdoc/>
    public override void Prewarm(long bytes)
    {
        ThrowIfDisposed();
        _parent.Prewarm(bytes);
    }

    /// <summary>Returns all idle memory of the parent to the operating system now. Outstanding memory stays valid.</summary>
    public override void ReleaseRetainedResources() => _parent.ReleaseRetainedResources();

    /// <summary>Reads the parent's figures; the reservation has no memory of its own.</summary>
    public override MemoryAllocatorStatistics GetStatistics() => _parent.GetStatistics();

    /// <inheritdoc/>
    public override MemoryLoad GetMemoryLoad() => _parent.GetMemoryLoad();

    /// <summary>Reserves more if there is room now, and never waits.</summary>
    /// <param name="bytes">
    /// How much more, in bytes of capacity. <see cref="RemainingBytes"/> grows by this, whatever was taken beyond the reservation before.
    /// </param>
    /// <returns><see langword="false"/> if there is no room now, or never will be; nothing has changed then.</returns>
    /// <remarks>
    /// Up to twice the original reservation, growth goes ahead of requests that wait: they could not be served before running jobs end
    /// anyway. So does all growth of a job by name in its first minute, because its learned claim may be too small. Other growth is a
    /// request like any other. <see cref="Dispose"/> returns the growth too.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="bytes"/> is negative; or, without a budget, as large as the largest estimate together with what is reserved.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The reservation or its allocator has been disposed.</exception>
    public bool TryGrow(long bytes)
    {
        ThrowIfAbsurd(bytes, ReservedBytes);
        bool isGrown = GetPipeline().Admission.TryAcquire(_account.AsGrowth(), bytes, out _);
        GC.KeepAlive(this);
        return isGrown;
    }

    /// <summary>
    /// Reserves more, and waits asynchronously if there is no room. If nothing limits the allocator, it completes at once.
    /// </summary>
    /// <param name="bytes">As for <see cref="TryGrow"/>.</param>
    /// <param name="cancellationToken">Ends the wait; the reservation is as it was then.</param>
    /// <returns>A task that completes when the bytes have been reserved. <see cref="Dispose"/> returns them.</returns>
    /// <remarks>
    /// It queues like <see cref="TryGrow"/>. Jobs that hold memory and wait for each other would wait for ever, so if all jobs that hold
    /// memory wait, the youngest is refused at once. If memory outside of reservations could still come back, that happens only after about
    /// 5 s, or after <see cref="MemoryAllocatorOptions.BudgetTimeout"/> if that is longer. Disposing the reservation or its allocator ends
    /// a wait, with <see cref="ObjectDisposedException"/>.
    /// </remarks>
    /// <exception cref="MemoryLimitExceededException">
    /// It is more than the whole budget together with what is reserved, and never fits
    /// (<see cref="MemoryLimitExceededException.IsTransient"/> is <see langword="false"/>); or waiting could have been for ever, see the
    /// remarks. The reservation is as it was, and can be used further.
    /// </exception>
    /// <exception cref="OperationCanceledException"><paramref name="cancellationToken"/> was cancelled before there was room.</exception>
    /// <inheritdoc cref="TryGrow" path="/exception"/>
    public ValueTask GrowAsync(long bytes, CancellationToken cancellationToken = default)
    {
        ThrowIfAbsurd(bytes, ReservedBytes);
        return GrowAdmittedAsync(bytes, cancellationToken);
    }

    /// <summary>
    /// Makes the reservation ambient, for code that takes no allocator: until the result is disposed, whatever this flow of execution
    /// allocates from the reservation's allocator belongs to the reservation.
    /// </summary>
    /// <returns>An object that the caller disposes, with <c>using</c>, before the reservation.</returns>
    /// <remarks>
    /// <para>
    /// The flow is that of <see cref="ExecutionContext"/>: called methods, code after an <c>await</c>, and tasks, loops and threads that
    /// are begun within it. Call it in the method that does the work: an <c>async</c> method that calls it changes its own flow only. If
    /// uses are nested, the innermost of each allocator counts. Other allocators, and reservations that are named, are not affected.
    /// </para>
    /// <para>
    /// Disposing the result, in whatever flow, ends the use in all of them; so does disposing the reservation. The flows then allocate
    /// from the allocator, as before. Memory allocated by then stays the reservation's until that ends.
    /// </para>
    /// <para>
    /// As long as any use in the process has not ended, each allocation reads the flow, for some nanoseconds. Otherwise it costs one
    /// comparison.
    /// </para>
    /// </remarks>
    /// <exception cref="ObjectDisposedException">The reservation or its allocator has been disposed.</exception>
    public UseScope Use()
    {
        ThrowIfDisposed();
        return new UseScope(new AmbientAccount(_account, Jobs));
    }

    /// <summary>
    /// Returns the unused part to the budget, and the bytes it has grown by. Outstanding memory stays valid, counts against the budget,
    /// and is returned to it when disposed. New and waiting requests throw. Reservations made from this one continue as parts of its
    /// parent. Further calls have no effect.
    /// </summary>
    public override void Dispose()
    {
        GC.SuppressFinalize(this);
        if (_account.Close() && OverflowCount > 0 && !_account.IsLearned)
        {
            AllocatorEventSource.Log.ReservationExceeded(ReservedBytes, PeakUsedBytes, OverflowCount, Name);
        }
    }

    private protected override string Describe(bool inFull) =>
        $"{nameof(MemoryReservation)} of {InMebibytes(ReservedBytes)}, {InMebibytes(RemainingBytes)} left"
            + $"{(_account.IsClosed ? ", disposed" : "")}, from {_parent}{(inFull ? $"\n{_parent.DescribeMemory()}" : "")}";

    internal override LifetimeGuard? TryRentFast(
        BudgetAccount? account, long lengthInBytes, int alignmentInBytes, AllocationOptions options, bool ofGroup, out long generation)
    {
        ThrowIfDisposed();
        return _parent.TryRentFast(account ?? _account, lengthInBytes, alignmentInBytes, options, ofGroup, out generation);
    }

    internal override AllocationPipeline GetPipeline()
    {
        ThrowIfDisposed();
        return _parent.GetPipeline();
    }

    internal override bool TryReturnArray(byte[] array, bool clear) => _parent.TryReturnArray(array, clear);

    private async ValueTask GrowAdmittedAsync(long bytes, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        BudgetAccount growth = _account.AsGrowth();
        await GetPipeline().Admission.AcquireAsync(growth, bytes, Timeout.InfiniteTimeSpan, cancellationToken);
        GC.KeepAlive(this);
        ThrowIfDisposed();
    }

    private void ThrowIfDisposed()
    {
        if (_account.IsClosed)
        {
            Throw.Disposed(AdmissionControl.NameOf(_account));
        }
    }

    /// <summary>The time in which a flow of execution allocates from a reservation: see <see cref="Use"/>.</summary>
    public readonly struct UseScope : IDisposable
    {
        private readonly AmbientAccount? _use;

        internal UseScope(AmbientAccount use) => _use = use;

        /// <summary>Ends the use. Further calls, on this instance or a copy, have no effect. Never throws.</summary>
        public void Dispose() => _use?.Leave();
    }
}
