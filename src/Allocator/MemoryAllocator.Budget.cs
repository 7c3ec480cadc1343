using System.Diagnostics.CodeAnalysis;
using Allocator.Allocators;
using Allocator.Budgeting;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator;

/// <content>Requests that wait for the memory budget without blocking a thread.</content>
public abstract partial class MemoryAllocator
{
    /// <summary>
    /// Allocates one buffer. Waits asynchronously if there is no room for it; if nothing limits the allocator, it completes at once.
    /// </summary>
    /// <param name="length">The length in elements; 0 gives an empty owner.</param>
    /// <param name="options">What the memory must be. One buffer is always contiguous.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is taken then.</param>
    /// <returns>The owner, which the caller disposes. Await it once: an owner that is never taken is abandoned.</returns>
    /// <remarks>
    /// It waits for room in the budget and for <see cref="MemoryAllocatorOptions.MinimumFreeMegabytes"/>. With neither, only reservations
    /// wait for a container's own limit: a request that certainly does not fit the container is refused.
    /// Requests are served in order of arrival, but one that fits may be served before earlier ones that do not: at most 16 before the
    /// first in line, apart from growth of jobs that run. The code after the wait runs on the thread pool, never on the thread whose
    /// <c>Dispose</c> made room; if all threads of the pool are blocked, a new thread runs it. Jobs that each hold some buffers and wait
    /// for more can wait for each other for ever;
    /// <see cref="ReserveAsync(long, CancellationToken)"/> reserves everything a job needs before it starts.
    /// </remarks>
    /// <exception cref="MemoryLimitExceededException">
    /// The request exceeds the limit for one allocation or the whole budget, alone or together with its own reservation. Or the container
    /// certainly has no room for it (<see cref="MemoryAllocatorOptions.HonorMemoryLimit"/>); with a minimum also if nothing is outstanding
    /// that could make room.
    /// </exception>
    /// <exception cref="OperationCanceledException"><paramref name="cancellationToken"/> was cancelled before there was room.</exception>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed, before the call or during the wait.</exception>
    /// <inheritdoc cref="Allocate" path="/typeparam | /exception[contains(@cref, 'Argument') or contains(@cref, 'OutOfMemory')]"/>
    [return: OwnedBuffer]
    public ValueTask<IMemoryOwner<T>> AllocateAsync<T>(
        int length, AllocationOptions options = AllocationOptions.None, CancellationToken cancellationToken = default)
        where T : struct
    {
        ThrowIfNotElements<T>(length, options);
        AllocationRequest request = AllocationRequest.ForBytes((long)length * Unsafe.SizeOf<T>(), 1, options);
        PooledMemoryOwner<T> owner = new();
        return AllocateAdmittedAsync<IMemoryOwner<T>>(request, owner, owner, cancellationToken);
    }

    /// <summary>Allocates the pixels of an image, and waits asynchronously if the memory budget has no room.</summary>
    /// <returns>The buffer, which the caller disposes. Await it once: a buffer that is never taken is abandoned.</returns>
    /// <remarks>As <see cref="AllocateAsync{T}"/>, which says what else is thrown.</remarks>
    /// <inheritdoc cref="AllocatePixels" path="/typeparam | /param | /exception[contains(@cref, 'Argument')]"/>
    /// <inheritdoc cref="AllocateAsync" path="/param[@name = 'cancellationToken'] | /exception[not(contains(@cref, 'Argument'))]"/>
    [return: OwnedBuffer]
    public ValueTask<PixelBuffer<TPixel>> AllocatePixelsAsync<TPixel>(
        int width, int height, AllocationOptions options = AllocationOptions.None, int rowAlignmentInBytes = 1,
        CancellationToken cancellationToken = default)
        where TPixel : unmanaged
    {
        AllocationRequest request = DescribePixels<TPixel>(width, height, rowAlignmentInBytes, options);
        PixelBuffer<TPixel> pixels = new(this, request.Rows(width, height), rowAlignmentInBytes);
        return AllocateAdmittedAsync(request, pixels, pixels, cancellationToken);
    }

    /// <inheritdoc cref="AllocatePixelsAsync{TPixel}(int, int, AllocationOptions, int, CancellationToken)"/>
    [return: OwnedBuffer]
    public ValueTask<PixelBuffer<TPixel>> AllocatePixelsAsync<TPixel>(
        int width, int height, AllocationOptions options, CancellationToken cancellationToken)
        where TPixel : unmanaged =>
        AllocatePixelsAsync<TPixel>(width, height, options, rowAlignmentInBytes: 1, cancellationToken);

    /// <summary>
    /// Reserves a part of the memory budget for a whole job before it starts. Waits asynchronously for room.
    /// </summary>
    /// <param name="bytes">The most that the job needs at once, in bytes of capacity: see <see cref="EstimatePixelBytes"/>.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is taken then.</param>
    /// <returns>The reservation, an allocator that draws on the reserved bytes. The caller disposes it at the end of the job.</returns>
    /// <remarks>
    /// Jobs that each hold half of what they need may wait for ever; jobs that reserve all of it first wait in turn. One allocation of as
    /// many bytes as are reserved, in whole pages if they are above 1 MiB, does not wait for the rest of a block. If the allocator has
    /// neither <see cref="MemoryAllocatorOptions.MemoryBudgetMegabytes"/> nor <see cref="MemoryAllocatorOptions.MinimumFreeMegabytes"/>,
    /// the limit of the container counts. Without that either, every reservation is granted at once and holds nothing back; the event
    /// <c>ReservationUnlimited</c> says so once.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="bytes"/> is negative; or, without a budget, as large as the largest estimate, <see cref="long.MaxValue"/> / 16.
    /// </exception>
    /// <exception cref="MemoryLimitExceededException">
    /// <paramref name="bytes"/> is more than the whole budget, or than the container's limit less the minimum. Or, and then the exception
    /// is transient, other code has the memory and nothing is outstanding that could make room; or, for a reservation that is made from
    /// another, all jobs that hold memory wait for more.
    /// </exception>
    /// <exception cref="OutOfMemoryException">There was no memory for the thread that watches waits.</exception>
    /// <exception cref="OperationCanceledException"><paramref name="cancellationToken"/> was cancelled before there was room.</exception>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed, before the call or during the wait.</exception>
    [return: OwnedBuffer]
    public ValueTask<MemoryReservation> ReserveAsync(long bytes, CancellationToken cancellationToken = default) =>
        ReserveAsync(bytes, Timeout.InfiniteTimeSpan, cancellationToken);

    /// <summary>As <see cref="ReserveAsync(long, CancellationToken)"/>, and waits no longer than a given time.</summary>
    /// <param name="bytes">The most that the job needs at once, in bytes of capacity.</param>
    /// <param name="timeout">How long it waits: zero for not at all, <see cref="Timeout.InfiniteTimeSpan"/> for any time.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is taken then.</param>
    /// <remarks>
    /// The timeout holds even if no thread of the thread pool is free: a thread of the library watches it. The code after the caller's
    /// <c>await</c> runs on the pool, or on a new thread if all threads of the pool are blocked.
    /// <see cref="MemoryAllocatorOptions.BudgetTimeout"/> does not apply.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not <see cref="Timeout.InfiniteTimeSpan"/>.</exception>
    /// <exception cref="MemoryLimitExceededException">
    /// There was no room in time: <see cref="MemoryLimitExceededException.IsTransient"/> is <see langword="true"/>.
    /// </exception>
    /// <inheritdoc cref="ReserveAsync(long, CancellationToken)" path="/returns | /exception"/>
    [return: OwnedBuffer]
    public ValueTask<MemoryReservation> ReserveAsync(long bytes, TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        ThrowIfAbsurd(bytes);
        ThrowIfNotTimeout(timeout);
        return ReserveAdmittedAsync(new RunningJob(bytes), bytes, timeout, cancellationToken);
    }

    /// <summary>
    /// Admits a job by what earlier jobs of that name have taken, so no estimate is needed: from the allocator and, in a container with a
    /// memory limit, from everything else. Waits asynchronously for room.
    /// </summary>
    /// <param name="job">
    /// The kind of job: jobs of one name learn from each other. Any string. 256 names are remembered; for a new one, the least recently
    /// used is forgotten. Long names are shortened.
    /// </param>
    /// <param name="cancellationToken">Ends the wait; nothing is taken then.</param>
    /// <returns>The reservation, an allocator that draws on the reserved bytes. The caller disposes it at the end of the job.</returns>
    /// <remarks>
    /// <para>
    /// A job claims the largest need of the last 64 jobs of the name, rounded up to 64 KiB; before one has ended, half of the room that is
    /// left. (Of jobs that need less than an eighth of the largest, one in eight counts.) It starts if its claim fits in addition to those
    /// of all running jobs; from the third job on, the largest claim must fit once more. While it waits, its claim follows the other jobs
    /// of the name. If sizes are mixed, use
    /// <see cref="ReserveAsync(string, long, CancellationToken)"/>.
    /// </para>
    /// <para>
    /// The reservation covers any library: a decoder that never heard of it is admitted with its bitmap, its native memory and its
    /// arrays. In a container the use elsewhere is read from the control group while the job runs. The first two jobs of a name run
    /// alone there, for up to a second. The second of a new name waits up to ten seconds for the end of the first, wherever jobs wait.
    /// Then two may run at once until 12 have ended, three until 16 have, four until 20, and so on.
    /// </para>
    /// <para>
    /// A job that needs more from the allocator grows. Under a budget or a minimum, for a minute that goes ahead of requests that hold
    /// nothing, later up to twice its claim. Its synchronous allocations wait for that: for
    /// <see cref="MemoryAllocatorOptions.BudgetTimeout"/>, and at least 30 s. If all jobs that hold memory wait for more, the youngest is
    /// refused at once, and its need is remembered. With the container's limit alone growth never waits: it is granted, or refused if the
    /// container certainly has no room. Without a limit nothing waits.
    /// </para>
    /// </remarks>
    /// <exception cref="ArgumentNullException"><paramref name="job"/> is null.</exception>
    /// <exception cref="MemoryLimitExceededException">
    /// Other code has the memory, and nothing is outstanding that could make room. Transient.
    /// </exception>
    /// <exception cref="OutOfMemoryException">There was no memory for the thread that watches waits.</exception>
    /// <exception cref="OperationCanceledException"><paramref name="cancellationToken"/> was cancelled before there was room.</exception>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed, before the call or during the wait.</exception>
    [return: OwnedBuffer]
    public ValueTask<MemoryReservation> ReserveAsync(string job, CancellationToken cancellationToken = default) =>
        ReserveAsync(job, size: 1, Timeout.InfiniteTimeSpan, cancellationToken);

    /// <summary>As <see cref="ReserveAsync(string, CancellationToken)"/>, for jobs of different sizes.</summary>
    /// <param name="job">The kind of job.</param>
    /// <param name="size">
    /// A number that the job's need grows with, at least 1: the pixels of the picture's header, or the bytes of its file. Use the same
    /// unit for all jobs of a name. 1 is the size of jobs without one, which teach jobs with a size nothing.
    /// </param>
    /// <param name="cancellationToken">Ends the wait; nothing is taken then.</param>
    /// <remarks>
    /// Needs are remembered by powers of two of the size, for up to 32 of them. A job of a size that has not been seen claims the need
    /// of the next smaller one, scaled up, or that of the next larger one.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="size"/> is less than 1.</exception>
    /// <inheritdoc cref="ReserveAsync(string, CancellationToken)" path="/returns | /exception"/>
    [return: OwnedBuffer]
    public ValueTask<MemoryReservation> ReserveAsync(string job, long size, CancellationToken cancellationToken = default) =>
        ReserveAsync(job, size, Timeout.InfiniteTimeSpan, cancellationToken);

    /// <summary>As <see cref="ReserveAsync(string, CancellationToken)"/>, and waits no longer than a given time.</summary>
    /// <param name="job">The kind of job.</param>
    /// <param name="timeout">How long it waits: zero for not at all, <see cref="Timeout.InfiniteTimeSpan"/> for any time.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is taken then.</param>
    /// <inheritdoc cref="ReserveAsync(long, TimeSpan, CancellationToken)" path="/remarks"/>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not <see cref="Timeout.InfiniteTimeSpan"/>.</exception>
    /// <exception cref="MemoryLimitExceededException">
    /// There was no room in time: <see cref="MemoryLimitExceededException.IsTransient"/> is <see langword="true"/>.
    /// </exception>
    /// <inheritdoc cref="ReserveAsync(string, CancellationToken)" path="/returns | /exception"/>
    [return: OwnedBuffer]
    public ValueTask<MemoryReservation> ReserveAsync(string job, TimeSpan timeout, CancellationToken cancellationToken = default) =>
        ReserveAsync(job, size: 1, timeout, cancellationToken);

    /// <summary>As <see cref="ReserveAsync(string, long, CancellationToken)"/>, and waits no longer than a given time.</summary>
    /// <param name="job">The kind of job.</param>
    /// <param name="size">A number that the job's need grows with, at least 1.</param>
    /// <param name="timeout">How long it waits: zero for not at all, <see cref="Timeout.InfiniteTimeSpan"/> for any time.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is taken then.</param>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="size"/> is less than 1, or the timeout is negative and not <see cref="Timeout.InfiniteTimeSpan"/>.
    /// </exception>
    /// <inheritdoc cref="ReserveAsync(string, TimeSpan, CancellationToken)" path="/remarks"/>
    /// <inheritdoc cref="ReserveAsync(string, CancellationToken)" path="/returns | /exception"/>
    [return: OwnedBuffer]
    public ValueTask<MemoryReservation> ReserveAsync(
        string job, long size, TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        RunningJob running = Describe(job, size);
        ThrowIfNotTimeout(timeout);
        return ReserveAdmittedAsync(running, LearnedSize.Granularity, timeout, cancellationToken);
    }

    /// <summary>As <see cref="ReserveAsync(string, CancellationToken)"/>, if there is room now or no limit. Never waits.</summary>
    /// <param name="job">The kind of job.</param>
    /// <param name="reservation">
    /// The reservation, which the caller disposes at the end of the job; <see langword="null"/> for false.
    /// </param>
    /// <returns>
    /// <see langword="false"/> if there is no room now, or the room is kept for requests that came earlier; also while as many jobs of the
    /// name run as may, or a job must run alone for a moment.
    /// </returns>
    /// <exception cref="ArgumentNullException"><paramref name="job"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed.</exception>
    public bool TryReserve(string job, [OwnedBuffer, NotNullWhen(true)] out MemoryReservation? reservation) =>
        TryReserve(job, size: 1, out reservation);

    /// <summary>As <see cref="ReserveAsync(string, long, CancellationToken)"/>, if there is room now or no limit. Never waits.</summary>
    /// <param name="job">The kind of job.</param>
    /// <param name="size">A number that the job's need grows with, at least 1.</param>
    /// <param name="reservation">
    /// The reservation, which the caller disposes at the end of the job; <see langword="null"/> for false.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="size"/> is less than 1.</exception>
    /// <inheritdoc cref="TryReserve(string, out MemoryReservation?)" path="/returns | /exception"/>
    public bool TryReserve(string job, long size, [OwnedBuffer, NotNullWhen(true)] out MemoryReservation? reservation)
    {
        reservation = TryReserve(Describe(job, size), LearnedSize.Granularity);
        return reservation is not null;
    }

    /// <summary>Takes a part of the memory budget for a whole job, if there is room now or no limit. Never waits.</summary>
    /// <param name="bytes">The most that the job needs at once, in bytes of capacity.</param>
    /// <param name="reservation">
    /// The reservation, which the caller disposes at the end of the job; <see langword="null"/> for false.
    /// </param>
    /// <returns>
    /// <see langword="false"/> if there is no room now, or the room is kept for requests that came earlier; also if
    /// <paramref name="bytes"/> is more than the whole budget, so that it never fits.
    /// </returns>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed.</exception>
    /// <inheritdoc cref="ReserveAsync(long, CancellationToken)" path="/exception[contains(@cref, 'Argument')]"/>
    public bool TryReserve(long bytes, [OwnedBuffer, NotNullWhen(true)] out MemoryReservation? reservation)
    {
        ThrowIfAbsurd(bytes);
        reservation = TryReserve(new RunningJob(bytes), bytes);
        return reservation is not null;
    }

    /// <summary>
    /// Counts memory that other code allocates, such as a decoder or a native library, against the budget, as if it were outstanding here.
    /// Idle memory is returned to the system for it.
    /// </summary>
    /// <param name="bytes">The most bytes that the other code will take.</param>
    /// <returns>An object that the caller disposes when that memory has been freed.</returns>
    /// <remarks>
    /// Call it before the memory is allocated. If there is no room, it waits up to <see cref="MemoryAllocatorOptions.BudgetTimeout"/>;
    /// inside a <see cref="MemoryReservation"/> that covers the bytes it never waits. Without a budget, memory that the container
    /// certainly has no room for is refused at once (<see cref="MemoryAllocatorOptions.HonorMemoryLimit"/>). If nothing limits the
    /// process, it costs an object and counts nothing. Among the statistics only <see cref="MemoryAllocatorStatistics.BudgetUsedBytes"/>
    /// contains these bytes. Disposing the allocator ends a wait, with <see cref="ObjectDisposedException"/>.
    /// </remarks>
    /// <exception cref="MemoryLimitExceededException">
    /// <paramref name="bytes"/> is more than the whole budget, or it had no room for them in time; or the container certainly has none.
    /// </exception>
    /// <inheritdoc cref="TryReserve(long, out MemoryReservation?)" path="/exception"/>
    [return: OwnedBuffer]
    public IDisposable TrackExternalMemory(long bytes)
    {
        ThrowIfAbsurd(bytes);
        ExternalMemory external = GetPipeline().TrackExternalMemory(Account, bytes);
        GC.KeepAlive(this);
        return external;
    }

    private async ValueTask<TResult> AllocateAdmittedAsync<TResult>(
        AllocationRequest request, TResult result, IRented rented, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        AllocationPlan plan = GetPipeline().Plan(request);
        Allocation allocation;
        if (TryRentFast(request, plan, out long generation) is LifetimeGuard guard)
        {
            allocation = new Allocation(guard, generation, plan.LayoutAt(guard.Address));
        }
        else
        {
            BudgetAccount? account = Account;
            plan = GetPipeline().Fit(plan, request, account, out BudgetPermit permit);
            if (permit.Account is null)
            {
                permit = await GetPipeline().AdmitAsync(account, plan, cancellationToken);
            }

            try
            {
                // The allocator may have been disposed during the wait.
                allocation = await GetPipeline().AllocateAsync(plan, permit).ConfigureAwait(false);
            }
            catch
            {
                permit.Return();
                throw;
            }
        }

        rented.Begin(allocation);
        return result;
    }

    private RunningJob Describe(string job, long size)
    {
        Throw.IfNull(job, nameof(job));
        Throw.Unless(size > 0, nameof(size), size, "must be at least 1: the pixels of the picture, or the bytes of its file");
        return new RunningJob(Jobs.Get(job).Of(size), size);
    }

    private async ValueTask<MemoryReservation> ReserveAdmittedAsync(
        RunningJob job, long bytes, TimeSpan timeout, CancellationToken cancellationToken)
    {
        MemoryReservation? reservation = null;
        try
        {
            cancellationToken.ThrowIfCancellationRequested();
            AdmissionControl admission = GetPipeline().Admission;

            BudgetAccount? parent = AccountOfJobs;
            admission.Prepare(parent, job);
            ReservationAccount account = new(parent, job);
            reservation = new MemoryReservation(this, account);
            await admission.AcquireAsync(parent, bytes, timeout, cancellationToken, account);
            GetPipeline();
            parent?.Budget?.Headroom?.Sample();
            return reservation;
        }
        catch
        {
            reservation?.Dispose();
            throw;
        }
    }

    private MemoryReservation? TryReserve(RunningJob job, long bytes)
    {
        BudgetAccount? parent = AccountOfJobs;
        GetPipeline().Admission.Prepare(parent, job);
        ReservationAccount account = new(parent, job);
        MemoryReservation reservation = new(this, account);
        try
        {
            bool isBegun = GetPipeline().Admission.TryAcquire(parent, bytes, out _, account);
            GetPipeline();
            if (isBegun)
            {
                parent?.Budget?.Headroom?.Sample();
                return reservation;
            }
        }
        catch
        {
            reservation.Dispose();
            throw;
        }

        reservation.Dispose();
        return null;
    }

    private static void ThrowIfNotTimeout(TimeSpan timeout) => Throw.Unless(
        timeout >= TimeSpan.Zero || timeout == Timeout.InfiniteTimeSpan,
        nameof(timeout), timeout, "must be zero or more, or Timeout.InfiniteTimeSpan");

    // A budget refuses requests that are too large. Without one, the sum of this and the bytes already reserved must not overflow.
    private protected void ThrowIfAbsurd(long bytes, long reservedBytes = 0)
    {
        Throw.IfNegative(bytes, nameof(bytes));
        long limit = ByteCount.LargestEstimate - reservedBytes;
        if (bytes >= limit && Account?.Budget is null)
        {
            Throw.OutOfRange(nameof(bytes), bytes, $"must be below {limit}, which is more than any machine has");
        }
    }
}
