using System;
using System.Threading;
using System.Threading.Tasks;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Allocators;

/// <summary>
/// Serves every request that the fast path does not: lets it in, as far as there is a budget, chooses between arrays, fences, pool and system, and leaves everything as it was where it fails.
/// </summary>
internal sealed class RequestRouter
{
    private readonly AllocatorSettings _settings;
    private readonly AllocatorCounters _counters;
    private readonly ArrayRenter _arrays;
    private readonly PoolTrimmer _trimmer;
    private readonly ContiguousRenter _contiguous;
    private readonly GroupRenter _groups;
    private readonly SafetySampler? _sampler;
    private readonly CapacityBound _bound;
    private readonly AdmissionControl _admission;
    private readonly Action _noteSystemMemory;
    private readonly long _longestSinglePiece;
    private readonly bool _countsArrays;

    public RequestRouter(AllocatorSettings settings, AllocatorCounters counters, ArrayRenter arrays, PoolTrimmer trimmer, ContiguousRenter contiguous, GroupRenter groups, int blockAlignmentInBytes)
    {
        _settings = settings;
        _counters = counters;
        _arrays = arrays;
        _trimmer = trimmer;
        _contiguous = contiguous;
        _groups = groups;
        _sampler = settings.Safety == SafetyMode.Standard ? null : new SafetySampler(settings.Safety == SafetyMode.Guarded ? 1 : settings.Options.SafetySampleInterval);
        _bound = new CapacityBound(settings, blockAlignmentInBytes);
        _admission = new AdmissionControl(settings, counters, trimmer);
        _countsArrays = settings.HonorsMemoryLimit;
        _noteSystemMemory = NoteSystemMemory;
        _longestSinglePiece = Math.Max(settings.ArrayThresholdInBytes, settings.Geometry.BlockSizeInBytes);
    }

    /// <summary>Gets the largest request that an array serves.</summary>
    public int ArrayThresholdInBytes => _settings.ArrayThresholdInBytes;

    /// <summary>Gets the size of the pool's blocks.</summary>
    public int BlockSizeInBytes => _settings.Geometry.BlockSizeInBytes;

    /// <summary>Gets the limit for one allocation.</summary>
    public long AllocationLimitInBytes => _settings.AllocationLimitInBytes;

    /// <summary>Rents one run of memory, and begins the rent.</summary>
    /// <param name="account">What it is charged to; null for nothing.</param>
    /// <param name="lengthInBytes">The length of the buffer.</param>
    /// <param name="alignmentInBytes">Its alignment.</param>
    /// <param name="options">What the memory must be.</param>
    /// <param name="generation">The generation that the user keeps.</param>
    public LifetimeGuard RentContiguous(BudgetAccount? account, long lengthInBytes, int alignmentInBytes, AllocationOptions options, out long generation)
    {
        ThrowIfAboveLimit(lengthInBytes);
        BudgetPermit permit = account is null ? default : _admission.Acquire(account, _bound.OfContiguous(lengthInBytes, alignmentInBytes));
        return RentContiguous(permit, lengthInBytes, alignmentInBytes, options, out generation);
    }

    /// <summary>As above, with what was taken from the budget for it; that goes back where this fails.</summary>
    public LifetimeGuard RentContiguous(in BudgetPermit permit, long lengthInBytes, int alignmentInBytes, AllocationOptions options, out long generation)
    {
        LifetimeGuard guard;
        try
        {
            guard = RentAdmitted(permit.Account is not null, lengthInBytes, alignmentInBytes, options, out generation);
        }
        catch
        {
            permit.Return();
            throw;
        }

        (guard as NativeGuard)?.Charge(permit);
        return guard;
    }

    /// <summary>Rents memory in as many members as it takes, and begins the rent. pre: it has been checked, and is not contiguous.</summary>
    public GroupRental RentMembers(BudgetAccount? account, in GroupRequest request, AllocationOptions options) =>
        account is null ? RentMembers(request, options) : RentMembers(_admission.Acquire(account, _bound.OfMembers(request)), request, options);

    /// <summary>Rents a group, contiguous or not, for which something was taken from the budget; that goes back where this fails.</summary>
    public GroupRental RentGroup(in BudgetPermit permit, in GroupRequest request, AllocationOptions options)
    {
        long bytes = CheckGroup(request, options, out bool isContiguous);
        if (isContiguous)
        {
            LifetimeGuard guard = RentContiguous(permit, bytes, request.AlignmentInBytes, options, out long generation);
            return GroupRenter.DescribeContiguous(guard, generation, request);
        }

        return RentMembers(permit, request, options);
    }

    /// <summary>Throws where a group cannot be, and decides whether it is one run of memory.</summary>
    /// <returns>Its bytes.</returns>
    public long CheckGroup(in GroupRequest request, AllocationOptions options, out bool isContiguous)
    {
        long bytes = RequestSize.Multiply(request.TotalLength, request.ElementSizeInBytes);
        ThrowIfAboveLimit(bytes);
        bool isLongRow = IsLongRow(request);
        if (isLongRow && !request.MakeContiguousWhereNeeded)
        {
            Throw.OutOfRange(
                "elementAlignment", request.ElementAlignment, $"must be at most {_settings.SegmentSizeInBytes / request.ElementSizeInBytes}, which {_settings.SegmentSizeInBytes} bytes hold");
        }

        isContiguous = isLongRow || IsContiguous(bytes, options);
        return bytes;
    }

    /// <summary>Counts memory that others allocate, until the result is disposed.</summary>
    public ExternalMemory CountExternal(BudgetAccount? account, long bytes)
    {
        BudgetPermit permit = _admission.Acquire(account, bytes);
        try
        {
            return _contiguous.CountExternal(permit, bytes);
        }
        catch
        {
            permit.Return();
            throw;
        }
    }

    /// <summary>Lets a request for one run of memory in, without blocking.</summary>
    public ValueTask<BudgetPermit> AdmitContiguousAsync(BudgetAccount? account, long lengthInBytes, int alignmentInBytes, CancellationToken cancellationToken)
    {
        ThrowIfAboveLimit(lengthInBytes);
        return account is null
            ? default
            : AdmitAsync(account, _bound.OfContiguous(lengthInBytes, alignmentInBytes), Timeout.InfiniteTimeSpan, cancellationToken);
    }

    /// <summary>Lets a request for memory in members in, without blocking.</summary>
    public ValueTask<BudgetPermit> AdmitGroupAsync(BudgetAccount? account, GroupRequest request, AllocationOptions options, CancellationToken cancellationToken)
    {
        long bytes = CheckGroup(request, options, out bool isContiguous);
        return account is null
            ? default
            : AdmitAsync(account, BoundOfGroup(request, bytes, isContiguous), Timeout.InfiniteTimeSpan, cancellationToken);
    }

    /// <summary>Takes bytes from the budget, without blocking.</summary>
    public ValueTask<BudgetPermit> AdmitAsync(BudgetAccount? account, long bytes, TimeSpan timeout, CancellationToken cancellationToken) =>
        _admission.AcquireAsync(account, bytes, timeout, cancellationToken);

    /// <summary>Takes bytes from the budget where there is room now.</summary>
    public bool TryAdmit(BudgetAccount? account, long bytes, out BudgetPermit permit) => _admission.TryAcquire(account, bytes, out permit);

    /// <summary>Gives the most memory that one run can take. Above the limit for one allocation: its length.</summary>
    public long BoundOfContiguous(long lengthInBytes) =>
        lengthInBytes > _settings.AllocationLimitInBytes ? lengthInBytes : _bound.OfContiguous(lengthInBytes, alignmentInBytes: 1);

    /// <summary>Gives the most memory that a group can take. Above the limit for one allocation: its length.</summary>
    public long BoundOfGroup(in GroupRequest request)
    {
        long bytes = RequestSize.Multiply(request.TotalLength, request.ElementSizeInBytes);
        return bytes > _settings.AllocationLimitInBytes ? bytes : BoundOfGroup(request, bytes, IsLongRow(request) || IsContiguous(bytes, AllocationOptions.None));
    }

    /// <summary>Sees to it that somebody looks after memory that the system may have given.</summary>
    public void NoteSystemMemory()
    {
        _settings.Clock.RefreshCoarse();
        if (_trimmer.HasWork)
        {
            _settings.Scheduler.Wake(_trimmer);
        }
    }

    private long BoundOfGroup(in GroupRequest request, long bytes, bool isContiguous) =>
        isContiguous ? _bound.OfContiguous(bytes, request.AlignmentInBytes) : _bound.OfMembers(request);

    private bool IsContiguous(long bytes, AllocationOptions options) =>
        _settings.Options.PreferContiguous || (options & AllocationOptions.Contiguous) != 0 || bytes <= _longestSinglePiece;

    // Of two ints: the product is none that wraps.
    private bool IsLongRow(in GroupRequest request) => (long)request.ElementAlignment * request.ElementSizeInBytes > _settings.SegmentSizeInBytes;

    private LifetimeGuard RentAdmitted(bool isCounted, long lengthInBytes, int alignmentInBytes, AllocationOptions options, out long generation)
    {
        bool clean = (options & AllocationOptions.Clean) != 0;
        bool isWatched = _sampler is not null && lengthInBytes > 0 && _sampler.Chooses();

        // Arrays begin behind a header, on a boundary of the pointer size.
        bool fitsArray = lengthInBytes <= _settings.ArrayThresholdInBytes && (alignmentInBytes <= IntPtr.Size || lengthInBytes == 0);
        if (fitsArray && !isWatched && !isCounted && (!_countsArrays || lengthInBytes == 0))
        {
            return _arrays.Rent((int)lengthInBytes, clean, out generation);
        }

        NativeGuard guard = fitsArray && !isWatched
            ? _contiguous.RentArray((int)lengthInBytes, out PoolOutcome outcome)
            : RentNative(lengthInBytes, alignmentInBytes, isWatched, clean, out outcome);
        try
        {
            if (outcome != PoolOutcome.Hit)
            {
                NoteSystemMemory();
            }

            guard.Prepare(lengthInBytes, clean);
            generation = guard.BeginAllocation();
        }
        catch
        {
            guard.Cancel();
            throw;
        }

        // A small request with an alignment is the heap's business, and the pool's only where it took a block.
        if (outcome != PoolOutcome.Hit && (lengthInBytes > _settings.ArrayThresholdInBytes || guard is BlockGuard))
        {
            _counters.CountMiss(servedByPool: guard is BlockGuard);
        }

        return guard;
    }

    private NativeGuard RentNative(long lengthInBytes, int alignmentInBytes, bool isWatched, bool clean, out PoolOutcome outcome)
    {
        try
        {
            return _contiguous.Rent(lengthInBytes, alignmentInBytes, isWatched, clean, out outcome);
        }
        catch
        {
            NoteSystemMemory();
            throw;
        }
    }

    private GroupRental RentMembers(in BudgetPermit permit, in GroupRequest request, AllocationOptions options)
    {
        GroupRental rental;
        try
        {
            rental = RentMembers(request, options);
        }
        catch
        {
            permit.Return();
            throw;
        }

        ((NativeGuard)rental.Guard).Charge(permit);
        return rental;
    }

    private GroupRental RentMembers(in GroupRequest request, AllocationOptions options)
    {
        bool isWatched = _sampler is not null && _sampler.Chooses();
        GroupRental rental;
        bool isMiss;
        try
        {
            rental = _groups.Rent(request, (options & AllocationOptions.Clean) != 0, isWatched, _noteSystemMemory, out isMiss);
        }
        catch
        {
            // The blocks that were had meanwhile lie idle now.
            NoteSystemMemory();
            throw;
        }

        if (isMiss)
        {
            _counters.CountMiss(servedByPool: rental.Guard is BlockGuard);
        }

        return rental;
    }

    private void ThrowIfAboveLimit(long bytes)
    {
        if (bytes > _settings.AllocationLimitInBytes)
        {
            Throw.LimitExceeded(bytes, _settings.AllocationLimitInBytes);
        }
    }
}
