using System;
using Allocator.Lifetime;

namespace Allocator.Allocators;

/// <summary>How a group is divided: the length of its members, and how many of them share a segment where the pool has no block for them.</summary>
internal readonly record struct MemberPlan(GroupLayout Layout, int ElementSizeInBytes, bool UsesPool, long MemberStrideInBytes, int MembersPerSegment)
{
    // Members in a segment begin on pages of the common size, fit for direct I/O and DMA like blocks are.
    private const int MemberAlignment = 4096;

    public static MemberPlan Create(in GroupRequest request, int blockSizeInBytes, int maximumBlocks, int segmentSizeInBytes)
    {
        int undividedBytes = request.ElementAlignment * request.ElementSizeInBytes;
        if (undividedBytes <= blockSizeInBytes)
        {
            GroupLayout blocks = new(request.TotalLength, blockSizeInBytes / undividedBytes * request.ElementAlignment);
            if (blocks.Count <= maximumBlocks)
            {
                return Create(request, blocks, usesPool: true, segmentSizeInBytes);
            }
        }

        // Larger than the whole pool, or rows longer than a block: members as long as segments are.
        GroupLayout segments = new(request.TotalLength, (int)Math.Min(request.TotalLength, segmentSizeInBytes / undividedBytes * (long)request.ElementAlignment));
        return Create(request, segments, usesPool: false, segmentSizeInBytes);
    }

    /// <summary>Gives the bytes of one member.</summary>
    public long BytesOf(int member) => (long)Layout.LengthOf(member) * ElementSizeInBytes;

    private static MemberPlan Create(in GroupRequest request, GroupLayout layout, bool usesPool, int segmentSizeInBytes)
    {
        long stride = RequestSize.RoundUp((long)layout.MemberLength * request.ElementSizeInBytes, Math.Max(MemberAlignment, request.AlignmentInBytes));
        int perSegment = usesPool ? Math.Max(1, (int)(segmentSizeInBytes / stride)) : 1;
        return new MemberPlan(layout, request.ElementSizeInBytes, usesPool, stride, perSegment);
    }
}
