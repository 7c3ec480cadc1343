using System;
using Allocator.Lifetime;
using Allocator.Native;
using Allocator.Pooling;

namespace Allocator.Allocators;

/// <summary>Gives the most memory that a request can take, wherever it comes from: what has to be free in a budget before it is served.</summary>
internal sealed class CapacityBound
{
    private readonly AllocatorSettings _settings;
    private readonly int _blockAlignmentInBytes;
    private readonly PoolGeometry _geometry;
    private readonly bool _mayBeFenced;

    /// <param name="settings">Sizes, and where memory comes from.</param>
    /// <param name="blockAlignmentInBytes">The alignment of the pool's blocks.</param>
    public CapacityBound(AllocatorSettings settings, int blockAlignmentInBytes)
    {
        _settings = settings;
        _blockAlignmentInBytes = blockAlignmentInBytes;
        _geometry = settings.Geometry;
        _mayBeFenced = settings.Safety != SafetyMode.Standard;
    }

    /// <summary>Gives the bytes for one run of memory. pre: within the limit for one allocation.</summary>
    public long OfContiguous(long lengthInBytes, int alignmentInBytes)
    {
        if (lengthInBytes == 0)
        {
            return 0;
        }

        bool isSmall = lengthInBytes <= _settings.ArrayThresholdInBytes;
        long bytes = isSmall && alignmentInBytes <= IntPtr.Size
            ? CountedArrayPool.CapacityOf((int)lengthInBytes)
            : OfMapping(isSmall ? _settings.SmallSource : _settings.Source, lengthInBytes, alignmentInBytes);
        if ((!isSmall || alignmentInBytes > AllocatorSettings.LargestHeapAlignment) && alignmentInBytes <= _blockAlignmentInBytes && lengthInBytes <= _geometry.MaximumBytes)
        {
            bytes = Math.Max(bytes, RequestSize.RoundUp(lengthInBytes, _geometry.BlockSizeInBytes));
        }

        return Math.Max(bytes, OfFenced(lengthInBytes));
    }

    /// <summary>Gives the bytes for memory in members. pre: within the limit for one allocation, and what no member divides fits a segment.</summary>
    public long OfMembers(in GroupRequest request)
    {
        int usableBlocks = request.AlignmentInBytes <= _blockAlignmentInBytes ? _geometry.MaximumBlocks : 0;
        MemberPlan plan = MemberPlan.Create(request, _geometry.BlockSizeInBytes, usableBlocks, _settings.SegmentSizeInBytes);
        long fenced = 0;
        long inSegments = 0;
        for (int member = 0; member < plan.Layout.Count; member++)
        {
            fenced += OfFenced(plan.BytesOf(member));
            if (member % plan.MembersPerSegment == 0)
            {
                int members = Math.Min(plan.MembersPerSegment, plan.Layout.Count - member);
                inSegments += OfMapping(_settings.Source, plan.BytesOfSegment(member, members), request.AlignmentInBytes);
            }
        }

        // Some in blocks and the rest in segments is no more than all in whichever takes more.
        long inBlocks = plan.UsesPool ? (long)plan.Layout.Count * _geometry.BlockSizeInBytes : 0;
        return Math.Max(Math.Max(inBlocks, inSegments), fenced);
    }

    private static long OfMapping(NativeMemorySource source, long lengthInBytes, int alignmentInBytes) =>
        source.CapacityOf(source.RoundUp(lengthInBytes), Math.Max(alignmentInBytes, NativeMemorySource.MinimumAlignment));

    private long OfFenced(long lengthInBytes) => _mayBeFenced ? RequestSize.RoundUp(lengthInBytes, _settings.FencedSource.PageSizeInBytes) : 0;
}
