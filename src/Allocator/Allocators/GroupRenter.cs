using System;
using Allocator.Budgeting;
using Allocator.Lifetime;
using Allocator.Pooling;

namespace Allocator.Allocators;

/// <summary>Rents memory in several members: blocks of the pool for as many as are free, and segments from the system for the rest.</summary>
internal sealed class GroupRenter
{
    private readonly AllocatorSettings _settings;
    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly LifetimePolicy _policy;
    private readonly MemoryRecovery _recovery;
    private readonly FencedRenter? _fences;

    public GroupRenter(
        AllocatorSettings settings, UniformUnmanagedMemoryPool pool, LifetimePolicy policy, MemoryRecovery recovery, FencedRenter? fences)
    {
        _settings = settings;
        _pool = pool;
        _policy = policy;
        _recovery = recovery;
        _fences = fences;
    }

    /// <summary>Describes one run of memory as a group: one member, unless it is longer than a span can be.</summary>
    public static GroupRental DescribeContiguous(LifetimeGuard guard, long generation, in GroupRequest request)
    {
        if (request.TotalLength <= int.MaxValue)
        {
            return new GroupRental(guard, generation, new GroupLayout(request.TotalLength, (int)request.TotalLength)) { IsContiguous = true };
        }

        GroupLayout layout = new(request.TotalLength, int.MaxValue / request.ElementAlignment * request.ElementAlignment);
        return new GroupRental(guard, generation, layout) { Origins = new MemberOrigins(guard.Address, gap: 0), IsContiguous = true };
    }

    /// <summary>Rents the members. pre: what no member divides fits a segment, and the whole is larger than a block.</summary>
    /// <param name="request">What is asked for.</param>
    /// <param name="clean">Whether the memory has to be zero.</param>
    /// <param name="isWatched">Whether each member is to lie between fences.</param>
    /// <param name="onMiss">Called where the system had to give any of it, before the rent begins: it may fail.</param>
    /// <param name="isMiss">Whether the system had to give any of it.</param>
    public GroupRental Rent(in GroupRequest request, bool clean, bool isWatched, Action onMiss, out bool isMiss)
    {
        int usableBlocks = request.AlignmentInBytes <= _pool.BlockAlignmentInBytes ? _pool.MaximumBlocks : 0;
        MemberPlan plan = MemberPlan.Create(request, _pool.BlockSizeInBytes, usableBlocks, _settings.SegmentSizeInBytes);
        GuardChain chain = default;
        try
        {
            isMiss = isWatched
                ? FillFencedChain(plan, request.AlignmentInBytes, clean, ref chain)
                : FillChain(plan, request.AlignmentInBytes, ref chain);
            if (isMiss)
            {
                onMiss();
            }

            Prepare(plan, chain.First!, clean);
            MemberOrigins origins = FindOrigins(plan, chain.First!);
            return new GroupRental(chain.First!, chain.First!.BeginAllocation(), plan.Layout) { Origins = origins, IsContiguous = origins.IsNone };
        }
        catch
        {
            chain.First?.Cancel();
            throw;
        }
    }

    // Gives whether the system had to provide memory.
    private bool FillChain(in MemberPlan plan, int alignmentInBytes, ref GuardChain chain)
    {
        bool isMiss = false;
        bool hasSegments = false;
        int filled = 0;
        for (Refusals refusals = default; ;)
        {
            // Blocks first, segments behind them: once there is a segment, the pool has had its turn.
            if (plan.UsesPool && !hasSegments)
            {
                isMiss |= TakeBlocks(plan, ref chain, ref refusals, ref filled) == PoolOutcome.Cold;
            }

            bool fits = filled == plan.Layout.Count || _policy.Budget.CanCommit(MissingBytes(plan, filled), ref refusals);
            while (fits && filled < plan.Layout.Count)
            {
                int members = Math.Min(plan.MembersPerSegment, plan.Layout.Count - filled);
                long bytes = plan.BytesOfSegment(filled, members);
                if (MappingGuard.TryAllocate(_settings.Source, bytes, alignmentInBytes, _policy, ref refusals) is not MappingGuard segment)
                {
                    break;
                }

                isMiss = true;
                hasSegments = true;
                chain.Add(segment);
                filled += members;
            }

            if (filled == plan.Layout.Count)
            {
                return isMiss;
            }

            Recover(ref refusals, plan, filled);
        }
    }

    private void Recover(ref Refusals refusals, in MemberPlan plan, int filled) =>
        _recovery.Recover(ref refusals, plan.Layout.TotalLength * plan.ElementSizeInBytes, MissingBytes(plan, filled));

    private long MissingBytes(in MemberPlan plan, int filled)
    {
        long missing = 0;
        for (int member = filled; member < plan.Layout.Count; member++)
        {
            missing += plan.UsesPool ? _pool.BlockSizeInBytes : _settings.Source.RoundUp(plan.BytesOf(member));
        }

        return missing;
    }

    // pre: there are fences.
    private bool FillFencedChain(in MemberPlan plan, int alignmentInBytes, bool clean, ref GuardChain chain)
    {
        Refusals refusals = default;
        for (int filled = 0; filled < plan.Layout.Count;)
        {
            if (_fences!.TryRent(plan.BytesOf(filled), alignmentInBytes, clean, ref refusals) is FencedGuard member)
            {
                chain.Add(member);
                filled++;
            }
            else
            {
                Recover(ref refusals, plan, filled);
            }
        }

        return true;
    }

    private PoolOutcome TakeBlocks(in MemberPlan plan, ref GuardChain chain, ref Refusals refusals, ref int filled)
    {
        PoolOutcome outcome = _pool.TryRentMany(plan.Layout.Count - filled, ref chain, ref refusals, out int rented);
        filled += rented;
        if (outcome == PoolOutcome.Full)
        {
            _settings.RequestCollection(beforeRefusal: false);
        }

        return outcome;
    }

    // A part holds as many members as its run has blocks, or as a segment has room for.
    private int MembersOf(NativeGuard part, in MemberPlan plan, int firstMember, out long stride)
    {
        if (part is BlockGuard run)
        {
            stride = _pool.BlockSizeInBytes;
            return run.RunLength;
        }

        stride = plan.MemberStrideInBytes;
        return part is FencedGuard ? 1 : Math.Min(plan.MembersPerSegment, plan.Layout.Count - firstMember);
    }

    private void Prepare(in MemberPlan plan, NativeGuard first, bool clean)
    {
        int member = 0;
        for (NativeGuard? part = first; part is not null; part = part.Next)
        {
            int members = MembersOf(part, plan, member, out long stride);
            part.Prepare((members - 1) * stride + plan.BytesOf(member + members - 1), clean);
            member += members;
        }
    }

    private MemberOrigins FindOrigins(in MemberPlan plan, NativeGuard first)
    {
        if (plan.Layout.Count == 1)
        {
            return default;
        }

        nint memberBytes = (nint)plan.BytesOf(0);
        if (first.Next is null)
        {
            MembersOf(first, plan, 0, out long stride);
            return new MemberOrigins(first.Address, (nint)stride - memberBytes);
        }

        nint[] origins = new nint[plan.Layout.Count];
        int member = 0;
        for (NativeGuard? part = first; part is not null; part = part.Next)
        {
            int members = MembersOf(part, plan, member, out long stride);
            for (int i = 0; i < members; i++, member++)
            {
                origins[member] = part.Address + (nint)(i * stride) - member * memberBytes;
            }
        }

        return new MemberOrigins(origins);
    }
}
