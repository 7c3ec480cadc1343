using Allocator.Guarding;
using Allocator.Lifetime;
using Allocator.Native;
using Allocator.Pooling;

namespace Allocator.Allocators;

/// <summary>
/// The checked arguments of one call: how many elements, how many of them must stay together in a member, and the demands on the memory.
/// </summary>
[DebuggerDisplay("{TotalLength} elements of {ElementSizeInBytes} bytes, {Options}, aligned to {AlignmentInBytes}")]
internal readonly struct AllocationRequest
{
    public AllocationRequest(long totalLength, int elementSizeInBytes, AllocationOptions options)
    {
        Debug.Assert(totalLength >= 0 && elementSizeInBytes > 0);
        TotalLength = totalLength;
        ElementSizeInBytes = elementSizeInBytes;
        LengthInBytes = ByteCount.Multiply(totalLength, elementSizeInBytes);
        Options = options;
    }

    public long TotalLength { get; }

    public int ElementSizeInBytes { get; }

    public AllocationOptions Options { get; }

    /// <summary>Gets how many elements stay together, such as those of a row. A member holds a multiple of them.</summary>
    public int ElementAlignment { get; init; } = 1;

    public int AlignmentInBytes { get; init; } = 1;

    /// <summary>Gets whether the memory becomes contiguous if a row is longer than a segment; otherwise that is an error.</summary>
    public bool MakeContiguousWhereNeeded { get; init; }

    /// <summary>Gets whether it must be a managed array, whatever the mode and the size.</summary>
    public bool IsArray { get; init; }

    /// <summary>
    /// Gets whether the caller relies on getting an array if the size allows one. Sampled mode then leaves the request alone.
    /// </summary>
    public bool PromisesArray { get; init; }

    /// <summary>Gets whether it takes no more than whole pages: a mapping in place of blocks, an array of just that length.</summary>
    public bool IsExact { get; init; }

    /// <summary>Gets the length of the whole in bytes; <see cref="long.MaxValue"/> if it is larger.</summary>
    public long LengthInBytes { get; }

    /// <summary>Gets the bytes that stay together in a member. A product of two ints, which cannot wrap.</summary>
    public long UndividedBytes => (long)ElementAlignment * ElementSizeInBytes;

    public static AllocationRequest ForBytes(long lengthInBytes, int alignmentInBytes, AllocationOptions options) =>
        new(lengthInBytes, 1, options | AllocationOptions.Contiguous) { AlignmentInBytes = alignmentInBytes };

    /// <summary>Returns the layout of the rows of an image that is requested by this.</summary>
    public PixelRows Rows(int width, int height) => new() { Stride = ElementAlignment, Width = width, Height = height };
}

/// <summary>
/// The layout of a request: the length of its members, how many of them share a segment if the pool has no block for them, and the most
/// memory that this can take. A contiguous request is one segment.
/// </summary>
[DebuggerDisplay("{LengthInBytes} bytes, {MemberCount} members, {Blocks} blocks, pool: {UsesPool}, contiguous: {IsContiguous}")]
internal readonly struct AllocationPlan
{
    // Members in a segment begin on pages of 4 KiB, so that they suit direct I/O and DMA, as blocks do.
    private const int MemberAlignment = 4096;

    private readonly AllocatorSettings _settings;
    private readonly long _totalLength;
    private readonly int _memberLength;
    private readonly int _elementSizeInBytes;
    private readonly int _blockSizeInBytes;

    public AllocationPlan(in AllocationRequest request, AllocatorSettings settings, UniformUnmanagedMemoryPool pool)
    {
        _settings = settings;
        IsArray = request.IsArray;
        IsExact = request.IsExact;
        _totalLength = IsArray ? ArrayLengthOf(request.TotalLength) : request.TotalLength;
        _elementSizeInBytes = request.ElementSizeInBytes;
        _blockSizeInBytes = pool.BlockSizeInBytes;
        LengthInBytes = IsArray ? _totalLength : request.LengthInBytes;
        AlignmentInBytes = request.AlignmentInBytes;
        IsClean = (request.Options & AllocationOptions.Clean) != 0;
        IsContiguous = (request.Options & AllocationOptions.Contiguous) != 0
            || LengthInBytes <= Math.Max(settings.ArrayThresholdInBytes, _blockSizeInBytes)
            || request.UndividedBytes > settings.SegmentSizeInBytes
            || settings.Options.PreferContiguous;
        CanBeWatched = LengthInBytes > 0 && !IsArray
            && !(request.PromisesArray && settings.Safety == SafetyMode.Sampled && FitsArray);
        int usableBlocks = AlignmentInBytes <= pool.BlockAlignmentInBytes && !IsExact ? pool.MaximumBlocks : 0;
        if (IsContiguous)
        {
            _memberLength = MemberLayout.LongestMember(_totalLength, request.ElementAlignment);
            MemberCount = MemberLayout.CountOf(_totalLength, _memberLength);
            Blocks = (int)Math.Min(int.MaxValue, (LengthInBytes + _blockSizeInBytes - 1) / _blockSizeInBytes);
            UsesPool = Blocks <= usableBlocks && (!IsSmall || AlignmentInBytes > AllocatorSettings.LargestHeapAlignment);
            return;
        }

        int undividedBytes = (int)request.UndividedBytes;
        if (undividedBytes <= _blockSizeInBytes)
        {
            _memberLength = _blockSizeInBytes / undividedBytes * request.ElementAlignment;
            MemberCount = Blocks = MemberLayout.CountOf(_totalLength, _memberLength);
            UsesPool = Blocks <= usableBlocks;
        }

        if (!UsesPool)
        {
            // If the request is larger than the whole pool, or its rows are longer than a block, members are as long as segments.
            long memberLength = settings.SegmentSizeInBytes / undividedBytes * (long)request.ElementAlignment;
            _memberLength = (int)Math.Min(_totalLength, memberLength);
            MemberCount = MemberLayout.CountOf(_totalLength, _memberLength);
        }
    }

    public long LengthInBytes { get; }

    public int AlignmentInBytes { get; }

    public bool IsArray { get; }

    public bool IsExact { get; }

    /// <summary>Gets whether memory between guard pages may serve it.</summary>
    public bool CanBeWatched { get; }

    public bool IsClean { get; }

    public bool IsContiguous { get; }

    /// <summary>Gets whether blocks of the pool may serve it; adjacent ones if it is contiguous.</summary>
    public bool UsesPool { get; }

    public int Blocks { get; }

    public int MemberCount { get; }

    public int MembersPerSegment =>
        IsContiguous ? MemberCount : UsesPool ? Math.Max(1, (int)(_settings.SegmentSizeInBytes / MemberStrideInBytes)) : 1;

    /// <summary>Gets how many members lie in one mapping, if they lie between guard pages.</summary>
    public int GuardedMembers => IsContiguous ? MemberCount : 1;

    /// <summary>Gets whether an array serves it. Arrays begin behind a header, on a boundary of the pointer size.</summary>
    public bool FitsArray => IsArray || IsContiguous && IsSmall && (AlignmentInBytes <= IntPtr.Size || LengthInBytes == 0);

    /// <summary>Gets whether it is small enough for an array, whatever its alignment.</summary>
    public bool IsSmall => LengthInBytes <= _settings.ArrayThresholdInBytes;

    /// <summary>Gets the source of memory beyond the pool.</summary>
    public NativeMemorySource Source =>
        IsSmall && LengthInBytes <= _settings.LargestHeapLengthInBytes ? _settings.SmallSource : _settings.Source;

    /// <summary>Gets the division of the length, without the places of the members.</summary>
    public MemberLayout Layout => new(_totalLength, _memberLength, MemberCount, IsContiguous);

    /// <summary>Gets the bytes to the end of the last member if one array or adjacent blocks hold them all.</summary>
    public long ReadyBytes => IsContiguous ? LengthInBytes : (MemberCount - 1L) * _blockSizeInBytes + BytesOf(MemberCount - 1);

    private long MemberStrideInBytes => IsContiguous
        ? (long)_memberLength * _elementSizeInBytes
        : ByteCount.RoundUp((long)_memberLength * _elementSizeInBytes, Math.Max(MemberAlignment, AlignmentInBytes));

    /// <summary>Returns the division of the length over one array, or over adjacent blocks.</summary>
    public MemberLayout LayoutAt(nint address)
    {
        MemberLayout layout = Layout;
        if (MemberCount > 1)
        {
            layout.Place(address, _blockSizeInBytes - _memberLength * _elementSizeInBytes);
        }

        return layout;
    }

    /// <summary>Returns the most memory that this can take, whatever its source: the budget must have room for it.</summary>
    public long UpperBoundInBytes()
    {
        if (LengthInBytes == 0)
        {
            return 0;
        }

        bool mayBeGuarded = _settings.Safety != SafetyMode.Standard && CanBeWatched;
        long guarded = 0;
        long inSegments = 0;
        for (int member = 0; member < MemberCount; member += MembersPerSegment)
        {
            int members = Math.Min(MembersPerSegment, MemberCount - member);
            inSegments += FitsArray
                ? ArrayLengthOf(LengthInBytes)
                : CapacityOf(BytesOfSegment(member, members));
            for (int i = 0; mayBeGuarded && i < members; i += GuardedMembers)
            {
                guarded += ByteCount.RoundUp(
                    BytesOfSegment(member + i, GuardedMembers), _settings.GuardedMappingSource.PageSizeInBytes);
            }
        }

        // A mixture of blocks and segments takes no more than the larger of all blocks and all segments.
        return Math.Max(Math.Max(UsesPool ? (long)Blocks * _blockSizeInBytes : 0, inSegments), guarded);
    }

    public long BytesOfSegment(int firstMember, int members) =>
        (members - 1) * MemberStrideInBytes + BytesOf(firstMember + members - 1);

    /// <summary>Returns how many bytes are still missing, for the members from the given one on.</summary>
    public long MissingBytes(int firstMember)
    {
        long missing = 0;
        for (int member = firstMember; member < MemberCount; member++)
        {
            missing += UsesPool ? _blockSizeInBytes : _settings.Source.RoundUp(BytesOf(member));
        }

        return missing;
    }

    /// <summary>Notes the places of the members, and in each guard how much its renter can reach.</summary>
    public void Locate(ref Allocation allocation)
    {
        allocation.Layout = Layout;
        FinalizableGuard first = allocation.First!;
        nint[]? origins = first.Next is null ? null : new nint[MemberCount];
        nint memberBytes = (nint)BytesOf(0);
        int member = 0;
        for (FinalizableGuard? guard = first; guard is not null; guard = guard.Next)
        {
            int members = MembersOf(guard, member, out long stride);
            guard.NoteUse((members - 1) * stride + BytesOf(member + members - 1));
            if (origins is null && members > 1)
            {
                allocation.Layout.Place(guard.Address, (nint)stride - memberBytes);
            }

            for (int i = 0; i < members; i++, member++)
            {
                origins?[member] = guard.Address + (nint)(i * stride) - member * memberBytes;
            }
        }

        Debug.Assert(member == MemberCount, "The guards hold all members.");
        if (origins is not null)
        {
            allocation.Layout.Place(origins);
        }
    }

    // The length of a pooled array is a power of two.
    private long ArrayLengthOf(long bytes) => IsExact ? bytes : CountedArrayPool.CapacityOf((int)bytes);

    private long CapacityOf(long bytes) =>
        Source.CapacityOf(Source.RoundUp(bytes), Math.Max(AlignmentInBytes, NativeMemorySource.MinimumAlignment));

    // A run of blocks holds as many members as it has blocks, a segment as many as it has room for.
    private int MembersOf(FinalizableGuard guard, int firstMember, out long stride)
    {
        if (guard is BlockGuard run && !IsContiguous)
        {
            stride = _blockSizeInBytes;
            return run.RunLength;
        }

        stride = MemberStrideInBytes;
        return Math.Min(guard is GuardedMappingGuard ? GuardedMembers : MembersPerSegment, MemberCount - firstMember);
    }

    private long BytesOf(int member) => Math.Min(_memberLength, _totalLength - (long)member * _memberLength) * _elementSizeInBytes;
}
