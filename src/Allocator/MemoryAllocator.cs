using System.Runtime.ExceptionServices;
using Allocator.Allocators;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;

namespace Allocator;

/// <summary>
/// Allocates memory for pixels. Buffers of up to 1 MiB come from <see cref="ArrayPool{T}.Shared"/>, or from the allocator's own arrays if
/// a budget or the container limits it. Larger ones come from a pool of unmanaged 4 MiB blocks, and beyond the pool from the operating
/// system.
/// </summary>
/// <remarks>
/// Thread-safe. Its results belong to the caller, who disposes them. One thread at a time may use an owner, group or lease; any number of
/// delegates may use a pixel buffer if they work on different pixels. Without <see cref="AllocationOptions.Clean"/> contents are
/// unspecified. Unmanaged memory starts on a 64-byte boundary at least, that of pool blocks with
/// <see cref="NativeMemoryKind.Virtual"/> on a 2 MiB boundary.
/// </remarks>
[DebuggerDisplay("{DebuggerText,nq}")]
public abstract partial class MemoryAllocator : IDisposable
{
    private protected MemoryAllocator()
    {
    }

    /// <summary>Gets the allocator that the process shares. It is made on first use, and ignores <see cref="Dispose"/>.</summary>
    /// <remarks>In a load context that can be unloaded, it ends when the host begins to unload that.</remarks>
    /// <inheritdoc cref="Create()" path="/exception"/>
    public static MemoryAllocator Default => SharedAllocator.Instance ?? SharedAllocator.ThrowFailure();

    /// <summary>
    /// Gets the name that its metrics and events carry: <see cref="MemoryAllocatorOptions.Name"/>, for a reservation the name of its
    /// allocator, or <see langword="null"/> if unnamed.
    /// </summary>
    public abstract string? Name { get; }

    /// <summary>Gets the largest single allocation, in bytes: <see cref="MemoryAllocatorOptions.AllocationLimitMegabytes"/>.</summary>
    public long AllocationLimitBytes => Settings.AllocationLimitInBytes;

    /// <summary>Gets the account that requests are charged to; null for none.</summary>
    internal abstract BudgetAccount? Account { get; }

    /// <summary>Gets the account that reservations are a part of; null if nothing limits them.</summary>
    internal abstract BudgetAccount? AccountOfJobs { get; }

    /// <summary>Gets the learned needs of jobs. An allocator and all its reservations share the object.</summary>
    internal abstract LearnedJobs Jobs { get; }

    /// <summary>Gets what it counts. A reservation has its parent's.</summary>
    internal abstract AllocatorCounters Counters { get; }

    /// <summary>
    /// Makes an allocator with the default options. It starts no thread and takes no memory before the first request above 1 MiB; in a
    /// container with a limit, before the first request.
    /// </summary>
    /// <exception cref="InvalidOperationException">
    /// The AppContext data <c>Allocator.Safety</c> or the environment variable <c>ALLOCATOR_SAFETY</c> is no safety mode, or
    /// <c>Allocator.LeakDetection</c> or <c>ALLOCATOR_LEAK_DETECTION</c> is no level.
    /// </exception>
    [return: OwnedBuffer]
    public static MemoryAllocator Create() => Create(new MemoryAllocatorOptions());

    /// <summary>Makes an allocator.</summary>
    /// <param name="options">How it behaves; copied now, so that later changes have no effect.</param>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">
    /// A value of the options is out of range; the message names it and the limit.
    /// </exception>
    /// <inheritdoc cref="Create()" path="/exception"/>
    [return: OwnedBuffer]
    public static MemoryAllocator Create(MemoryAllocatorOptions options)
    {
        Throw.IfNull(options, nameof(options));
        return new PooledMemoryAllocator(new AllocatorSettings(options));
    }

    /// <summary>Allocates one buffer.</summary>
    /// <typeparam name="T">The element type; it contains no references.</typeparam>
    /// <param name="length">The length in elements; 0 gives an empty owner.</param>
    /// <param name="options">What the memory must be. One buffer is always contiguous.</param>
    /// <returns>The owner, which the caller disposes. Its <c>Memory</c> has exactly <paramref name="length"/> elements.</returns>
    /// <remarks>From a warm pool this costs one small object, and its <c>Dispose</c> one interlocked operation.</remarks>
    /// <exception cref="ArgumentOutOfRangeException">A length is negative, or the options have undefined flags.</exception>
    /// <exception cref="ArgumentException"><typeparamref name="T"/> contains references.</exception>
    /// <exception cref="MemoryLimitExceededException">
    /// The request is larger than the limit for one allocation, or the memory budget had no room for it in time.
    /// </exception>
    /// <exception cref="OutOfMemoryException">The operating system refused the memory repeatedly. Nothing is leaked.</exception>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed.</exception>
    [return: OwnedBuffer]
    public IMemoryOwner<T> Allocate<T>(int length, AllocationOptions options = AllocationOptions.None)
        where T : struct
    {
        PooledMemoryOwner<T> owner = new();
        owner.Begin(RentElements<T>(length, 1, options, out long generation), generation);
        return owner;
    }

    /// <summary>Allocates one buffer that starts on a given boundary.</summary>
    /// <param name="length">The length in elements; 0 gives an empty owner.</param>
    /// <param name="alignmentInBytes">The boundary in bytes: a power of two, from 1 to 2 MiB.</param>
    /// <param name="options">What the memory must be.</param>
    /// <remarks>
    /// Up to 1 MiB, alignments above that of an array (8 bytes, in 64-bit processes) are served by the native heap, because arrays move;
    /// alignments above 64 KiB take a whole block of the pool if it has one. If the allocator is limited, as it is by a container, those
    /// above 128 KiB are mappings of their own.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="alignmentInBytes"/> is no such boundary.</exception>
    /// <inheritdoc cref="Allocate" path="/typeparam | /returns | /exception"/>
    [return: OwnedBuffer]
    public IMemoryOwner<T> AllocateAligned<T>(int length, int alignmentInBytes, AllocationOptions options = AllocationOptions.None)
        where T : struct
    {
        ThrowIfNotAlignment(alignmentInBytes, nameof(alignmentInBytes));
        PooledMemoryOwner<T> owner = new();
        owner.Begin(RentElements<T>(length, alignmentInBytes, options, out long generation), generation);
        return owner;
    }

    /// <summary>Allocates one buffer without any object for the GC, for use within one method.</summary>
    /// <returns>The lease, which the caller disposes: <c>using MemoryLease&lt;int&gt; lease = allocator.Rent&lt;int&gt;(9);</c>.</returns>
    /// <inheritdoc cref="Allocate" path="/typeparam | /param | /exception"/>
    [return: OwnedBuffer]
    public MemoryLease<T> Rent<T>(int length, AllocationOptions options = AllocationOptions.None)
        where T : struct
    {
        LifetimeGuard guard = RentElements<T>(length, 1, options, out long generation);
        return new MemoryLease<T>(guard, generation, length);
    }

    /// <summary>Allocates memory that may come in several blocks of equal length, so no large contiguous memory is needed.</summary>
    /// <typeparam name="T">The element type; it contains no references.</typeparam>
    /// <param name="totalLength">The length of all blocks together, in elements; 0 gives one empty block.</param>
    /// <param name="rowLength">
    /// Elements that belong together, an image row for instance: every block but the last holds a multiple of it. At most 32 MiB.
    /// </param>
    /// <param name="options">What the memory must be; with <see cref="AllocationOptions.Contiguous"/> there is one block.</param>
    /// <returns>The group, which the caller disposes.</returns>
    /// <remarks>
    /// They are blocks of the pool as long as there are free ones, unless the group is larger than the whole pool. The rest share segments
    /// of at most 32 MiB from the system.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="rowLength"/> is below 1 or above 32 MiB.</exception>
    /// <inheritdoc cref="Allocate" path="/exception"/>
    [return: OwnedBuffer]
    public MemoryGroup<T> AllocateGroup<T>(long totalLength, int rowLength = 1, AllocationOptions options = AllocationOptions.None)
        where T : struct
    {
        ThrowIfContainsReferences<T>();
        ThrowIfUndefined(options);
        Throw.IfNegative(totalLength, nameof(totalLength));
        Throw.IfBelowOne(rowLength, nameof(rowLength));
        AllocationRequest request = new(totalLength, Unsafe.SizeOf<T>(), options) { ElementAlignment = rowLength };
        MemoryGroup<T> group = new();
        group.Begin(AllocateMembers(request));
        return group;
    }

    /// <summary>Allocates the pixels of an image, row after row. No row is divided between two blocks.</summary>
    /// <typeparam name="TPixel">The pixel type.</typeparam>
    /// <param name="width">The width in pixels, at least 1.</param>
    /// <param name="height">The height in rows, at least 1.</param>
    /// <param name="options">What the memory must be; with <see cref="AllocationOptions.Contiguous"/> rows are one run of memory.</param>
    /// <param name="rowAlignmentInBytes">The boundary in bytes that each row starts on: a power of two, from 1 to 2 MiB.</param>
    /// <returns>
    /// The buffer, which the caller disposes. Its <see cref="PixelBuffer{TPixel}.RowStrideInBytes"/> is the bytes of a row, rounded up to
    /// the next boundary, which need not be a multiple of the pixel: rows are packed unless an alignment is requested.
    /// </returns>
    /// <remarks>A row above 32 MiB makes the buffer contiguous.</remarks>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="width"/> or <paramref name="height"/> is below 1, <paramref name="rowAlignmentInBytes"/> is no such boundary,
    /// <paramref name="options"/> has undefined flags, or a row within the limit has more than 2,147,483,647 bytes.
    /// </exception>
    /// <inheritdoc cref="Allocate" path="/exception[not(contains(@cref, 'Argument'))]"/>
    [return: OwnedBuffer]
    public PixelBuffer<TPixel> AllocatePixels<TPixel>(
        int width, int height, AllocationOptions options = AllocationOptions.None, int rowAlignmentInBytes = 1)
        where TPixel : unmanaged
    {
        AllocationRequest request = DescribePixels<TPixel>(width, height, rowAlignmentInBytes, options);
        PixelBuffer<TPixel> pixels = new(this, request.Rows(width, height), rowAlignmentInBytes);
        pixels.Begin(AllocateMembers(request));
        return pixels;
    }

    /// <summary>Allocates the planes of an image, a video frame for instance, as one allocation.</summary>
    /// <param name="format">The format: <see cref="PlanarFormat.Nv12"/>, or planes of one type.</param>
    /// <param name="width">The width of the image in pixels, at least 1.</param>
    /// <param name="height">The height of the image in rows, at least 1. Planes of half the size are rounded up.</param>
    /// <param name="options">
    /// What the memory must be; with <see cref="AllocationOptions.Contiguous"/> all planes are one run of memory, one after another.
    /// </param>
    /// <param name="rowAlignmentInBytes">The boundary in bytes that each row starts on: a power of two, from 1 to 2 MiB.</param>
    /// <returns>The buffer, which the caller disposes.</returns>
    /// <remarks>
    /// The stride of the first plane is that of U and V, or twice that for I420, so rows of images with an odd width have a gap.
    /// </remarks>
    /// <exception cref="ArgumentNullException"><paramref name="format"/> is null.</exception>
    /// <inheritdoc cref="AllocatePixels" path="/exception"/>
    [return: OwnedBuffer]
    public PlanarBuffer AllocatePlanar(
        PlanarFormat format, int width, int height, AllocationOptions options = AllocationOptions.None, int rowAlignmentInBytes = 1)
    {
        ThrowIfUndefined(options);
        AllocationRequest request = DescribePlanes(format, width, height, rowAlignmentInBytes, options);
        long line = format.LineBytes(width, rowAlignmentInBytes);
        if (line > int.MaxValue)
        {
            ThrowRowTooLong(width, request.TotalLength, line);
        }

        long rows = format.RowsIn(request.TotalLength, line);
        if (rows > int.MaxValue)
        {
            ThrowIfAboveLimit(request.TotalLength);
            Throw.OutOfRange(nameof(height), height, Invariant($"makes {rows:N0} rows of all planes; the limit is {int.MaxValue:N0}"));
        }

        PlanarBuffer planes = new(this, format, width, height, (int)line, rowAlignmentInBytes);
        planes.Begin(AllocateMembers(request));
        return planes;
    }

    /// <summary>Commits memory of the pool and makes it resident, until that many bytes are idle or the pool is full.</summary>
    /// <param name="bytes">The idle bytes to reach, rounded up to whole blocks; at most what the pool or a budget holds.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="bytes"/> is negative.</exception>
    /// <exception cref="OutOfMemoryException">The operating system refused the memory repeatedly.</exception>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed.</exception>
    /// <remarks>Exceptions of <see cref="MemoryAllocatorOptions.BlockCommitted"/> go on to the caller; earlier blocks stay.</remarks>
    public abstract void Prewarm(long bytes);

    /// <summary>Returns all idle memory to the operating system now. Outstanding memory stays valid.</summary>
    /// <remarks>
    /// Costs about a quarter of a millisecond for each resident block, on the calling thread only. Blocks that
    /// <see cref="MemoryAllocatorOptions.KeepBlocks"/> keeps stay. Throws the exception of
    /// <see cref="MemoryAllocatorOptions.BlockReleasing"/>, if there was one, after all other memory is back; in
    /// <see cref="SafetyMode.Guarded"/> mode also <see cref="MemoryCorruptedException"/>.
    /// </remarks>
    public abstract void ReleaseRetainedResources();

    /// <summary>Reads what the allocator holds and has done. Walks over all blocks: for diagnostics, not for every request.</summary>
    public abstract MemoryAllocatorStatistics GetStatistics();

    /// <summary>
    /// Reads what the jobs with a name took that <see cref="ReserveAsync(string, long, CancellationToken)"/> admitted, by name and by powers
    /// of two of their sizes. Empty before the first. For diagnostics, not for every request.
    /// </summary>
    public IReadOnlyList<MemoryJobStatistics> GetJobStatistics() => [.. Jobs.Read()];

    /// <summary>
    /// Describes the allocator in about twenty lines, for people who ask why memory is short: limits and which option or system sets them,
    /// load, outstanding memory by size and age, idle memory, waiting requests, and the last trims. Jobs by name add a line for each size
    /// of the last eight names. The words may change.
    /// </summary>
    /// <remarks>
    /// Reads the same as <see cref="GetStatistics"/> and <see cref="GetMemoryLoad"/>. Never throws and never waits for memory: without
    /// managed memory it is one line that says so; figures that cannot be read are named. Works after <see cref="Dispose"/>.
    /// </remarks>
    public string DescribeMemory() => DescribeOrSay(inFull: true);

    /// <summary>Reads from the system how short memory is: the figures by which this allocator trims at its next tick.</summary>
    /// <remarks>Reads a handful of small files or makes some system calls: for diagnostics, not for every request.</remarks>
    public abstract MemoryLoad GetMemoryLoad();

    /// <summary>
    /// Releases idle memory now, and outstanding memory as soon as it is returned; new requests throw
    /// <see cref="ObjectDisposedException"/>. Further calls have no effect, and <see cref="Default"/> ignores all.
    /// </summary>
    /// <remarks>
    /// Throws the exception of <see cref="MemoryAllocatorOptions.BlockReleasing"/>, if any, after all memory is back; in
    /// <see cref="SafetyMode.Guarded"/> mode also <see cref="MemoryCorruptedException"/>.
    /// </remarks>
    public abstract void Dispose();

    /// <summary>
    /// Describes the allocator, its memory and its limits in one line; <see cref="DescribeMemory"/> takes twenty. Never throws.
    /// </summary>
    /// <remarks>Costs as much as <see cref="GetStatistics"/>.</remarks>
    public override string ToString() => DescribeOrSay(inFull: false);

    private protected abstract string Describe(bool inFull);

    // Leaves out the statistics, which take locks: a debugger calls this while another thread may hold them.
    private protected string DebuggerText => $"{GetType().Name} {Name ?? "without a name"}, {Settings.Safety}";

    /// <summary>Gets how it was made, also after <see cref="Dispose"/>.</summary>
    internal abstract AllocatorSettings Settings { get; }

    /// <summary>Returns the pipeline that serves requests. Throws if this allocator has been disposed.</summary>
    internal abstract AllocationPipeline GetPipeline();

    /// <summary>
    /// Serves a request that needs no plan, in one step: by an array, a block of the cache near this thread, or adjacent free blocks with
    /// memory (for a group the lowest, one for each member). It is charged to the account; null is the allocator's own.
    /// </summary>
    /// <returns>Null if the request must go through the pipeline.</returns>
    internal abstract LifetimeGuard? TryRentFast(
        BudgetAccount? account, long lengthInBytes, int alignmentInBytes, AllocationOptions options, bool ofGroup, out long generation);

    private protected static string InMebibytes(long bytes) => Invariant($"{bytes / (1024.0 * 1024):#,0.##} MiB");

    private string DescribeOrSay(bool inFull)
    {
        try
        {
            return Describe(inFull);
        }
        catch (OutOfMemoryException)
        {
            return "There is no managed memory left to describe the allocator with.";
        }
    }

    // In a class of its own, so that callers who bring their own allocator never make this one.
    private static class SharedAllocator
    {
        public static readonly MemoryAllocator? Instance;

        private static readonly ExceptionDispatchInfo? s_failure;

        // Callers would get the exception of a type initializer wrapped, with a message that does not help.
        static SharedAllocator()
        {
            try
            {
                Instance = new PooledMemoryAllocator(
                    new AllocatorSettings(new MemoryAllocatorOptions { Name = nameof(Default) }) { IsShared = true });
            }
            catch (InvalidOperationException e)
            {
                s_failure = ExceptionDispatchInfo.Capture(e);
            }
        }

        public static MemoryAllocator ThrowFailure()
        {
            s_failure!.Throw();
            return null!;
        }
    }
}
