using System;
using Allocator.Lifetime;

namespace Allocator.Allocators;

/// <summary>How a group is divided: the length of its members, and how many of them share a segment where the pool has no block for them.</summary>
internal readonly struct MemberPlan
{
    // Members in a segment begin on pages of the common size, fit for direct I/O and DMA like blocks are.
    private const int MemberAlignment = 4096;

    private readonly int _segmentSizeInBytes;

    private MemberPlan(in GroupRequest request, in GroupLayout layout, bool usesPool, int segmentSizeInBytes)
    {
        _segmentSizeInBytes = segmentSizeInBytes;
        Layout = layout;
        ElementSizeInBytes = request.ElementSizeInBytes;
        UsesPool = usesPool;
        MemberStrideInBytes = RequestSize.RoundUp((long)layout.MemberLength * request.ElementSizeInBytes, Math.Max(MemberAlignment, request.AlignmentInBytes));
    }

    public GroupLayout Layout { get; }

    public int ElementSizeInBytes { get; }

    public bool UsesPool { get; }

    /// <summary>Gets the bytes from the beginning of one member to that of the next, in a segment.</summary>
    public long MemberStrideInBytes { get; }

    public int MembersPerSegment => UsesPool ? Math.Max(1, (int)(_segmentSizeInBytes / MemberStrideInBytes)) : 1;

    public static MemberPlan Create(in GroupRequest request, int blockSizeInBytes, int maximumBlocks, int segmentSizeInBytes)
    {
        int undividedBytes = request.ElementAlignment * request.ElementSizeInBytes;
        if (undividedBytes <= blockSizeInBytes)
        {
            GroupLayout blocks = new(request.TotalLength, blockSizeInBytes / undividedBytes * request.ElementAlignment);
            if (blocks.Count <= maximumBlocks)
            {
                return new MemberPlan(request, blocks, usesPool: true, segmentSizeInBytes);
            }
        }

        // Larger than the whole pool, or rows longer than a block: members as long as segments are.
        GroupLayout segments = new(request.TotalLength, (int)Math.Min(request.TotalLength, segmentSizeInBytes / undividedBytes * (long)request.ElementAlignment));
        return new MemberPlan(request, segments, usesPool: false, segmentSizeInBytes);
    }

    /// <summary>Gives the bytes of a segment that holds some members.</summary>
    public long BytesOfSegment(int firstMember, int members) => (members - 1) * MemberStrideInBytes + BytesOf(firstMember + members - 1);

    /// <summary>Gives the bytes of one member.</summary>
    public long BytesOf(int member) => (long)Layout.LengthOf(member) * ElementSizeInBytes;
}
