using System;
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

    public GroupRenter(AllocatorSettings settings, UniformUnmanagedMemoryPool pool, LifetimePolicy policy, MemoryRecovery recovery)
    {
        _settings = settings;
        _pool = pool;
        _policy = policy;
        _recovery = recovery;
    }

    /// <summary>Describes one run of memory as a group: one member, unless it is longer than a span can be.</summary>
    public static GroupRental DescribeContiguous(LifetimeGuard guard, long generation, in GroupRequest request)
    {
        if (request.TotalLength <= int.MaxValue)
        {
            return new GroupRental(guard, generation, new GroupLayout(request.TotalLength, (int)request.TotalLength)) { IsContiguous = true };
        }

        GroupLayout layout = new(request.TotalLength, int.MaxValue / request.ElementAlignment * request.ElementAlignment);
        // One run: every member has the same origin.
        nint[] origins = new nint[layout.Count];
        origins.AsSpan().Fill(guard.Address);
        return new GroupRental(guard, generation, layout) { Origins = origins, IsContiguous = true };
    }

    /// <summary>Rents the members. pre: what no member divides fits a segment, and the whole is larger than a block.</summary>
    /// <param name="request">What is asked for.</param>
    /// <param name="clean">Whether the memory has to be zero.</param>
    /// <param name="isMiss">Whether the system had to give any of it.</param>
    public GroupRental Rent(in GroupRequest request, bool clean, out bool isMiss)
    {
        int usableBlocks = request.AlignmentInBytes <= _pool.BlockAlignmentInBytes ? _pool.MaximumBlocks : 0;
        MemberPlan plan = MemberPlan.Create(request, _pool.BlockSizeInBytes, usableBlocks, _settings.SegmentSizeInBytes);
        nint[] addresses = new nint[plan.Layout.Count];
        GuardChain chain = default;
        try
        {
            isMiss = FillChain(plan, request.AlignmentInBytes, addresses, ref chain);
            Prepare(plan, chain.First!, clean);
            bool isSingle = addresses.Length == 1;
            return new GroupRental(chain.First!, chain.First!.BeginAllocation(), plan.Layout)
            {
                Origins = isSingle ? null : ToOrigins(addresses, plan.BytesOf(0)),
                IsContiguous = isSingle,
            };
        }
        catch
        {
            chain.First?.Cancel();
            throw;
        }
    }

    private static nint[] ToOrigins(nint[] addresses, long memberBytes)
    {
        for (int i = 1; i < addresses.Length; i++)
        {
            addresses[i] -= (nint)(i * memberBytes);
        }

        return addresses;
    }

    // Gives whether the system had to provide memory.
    private bool FillChain(in MemberPlan plan, int alignmentInBytes, nint[] addresses, ref GuardChain chain)
    {
        bool isMiss = false;
        bool hasSegments = false;
        int filled = 0;
        for (int attempt = 1; ; attempt++)
        {
            // Blocks first, segments behind them: once there is a segment, the pool has had its turn.
            if (plan.UsesPool && !hasSegments)
            {
                isMiss |= TakeBlocks(plan, addresses, ref chain, ref filled) == PoolOutcome.Cold;
            }

            while (filled < addresses.Length)
            {
                int members = Math.Min(plan.MembersPerSegment, addresses.Length - filled);
                long bytes = (members - 1) * plan.MemberStrideInBytes + plan.BytesOf(filled + members - 1);
                if (MappingGuard.TryAllocate(_settings.Source, bytes, alignmentInBytes, _policy) is not MappingGuard segment)
                {
                    break;
                }

                isMiss = true;
                hasSegments = true;
                chain.Add(segment);
                for (int i = 0; i < members; i++)
                {
                    addresses[filled++] = segment.Address + (nint)(i * plan.MemberStrideInBytes);
                }
            }

            if (filled == addresses.Length)
            {
                return isMiss;
            }

            _recovery.Recover(attempt, plan.Layout.TotalLength * plan.ElementSizeInBytes);
        }
    }

    private PoolOutcome TakeBlocks(in MemberPlan plan, nint[] addresses, ref GuardChain chain, ref int filled)
    {
        NativeGuard? last = chain.Last;
        PoolOutcome outcome = _pool.TryRentMany(plan.Layout.Count - filled, ref chain, out _);
        for (NativeGuard? part = last is null ? chain.First : last.Next; part is not null; part = part.Next)
        {
            // A run of blocks is a member for each: what it saves is the work for each.
            for (int i = 0; i < ((BlockGuard)part).RunLength; i++)
            {
                addresses[filled++] = part.Address + (nint)((long)i * _pool.BlockSizeInBytes);
            }
        }

        if (outcome == PoolOutcome.Full)
        {
            _settings.Scheduler.RequestCollection(_settings.Options.TrimPeriod);
        }

        return outcome;
    }

    private void Prepare(in MemberPlan plan, NativeGuard first, bool clean)
    {
        int member = 0;
        for (NativeGuard? part = first; part is not null; part = part.Next)
        {
            int members = part is BlockGuard run ? run.RunLength : Math.Min(plan.MembersPerSegment, plan.Layout.Count - member);
            long stride = part is BlockGuard ? _pool.BlockSizeInBytes : plan.MemberStrideInBytes;
            part.Prepare((members - 1) * stride + plan.BytesOf(member + members - 1), clean);
            member += members;
        }
    }
}
