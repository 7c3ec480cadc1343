namespace Allocator.Analyzers.Graph;

/// <summary>
/// Where control flows. The compiler's graph leaves out two things: the way through the <c>finally</c> blocks that a branch leaves,
/// and the way from every statement of a <c>try</c> to its handlers.
/// </summary>
internal sealed class Edges
{
    private readonly List<int>[] _handlers;
    private readonly List<int>[] _throughFinally;

    public Edges(ControlFlowGraph graph)
    {
        ImmutableArray<BasicBlock> blocks = graph.Blocks;
        _handlers = new List<int>[blocks.Length];
        _throughFinally = new List<int>[blocks.Length];
        for (int i = 0; i < blocks.Length; i++)
        {
            _handlers[i] = new List<int>();
            _throughFinally[i] = new List<int>();
        }

        foreach (BasicBlock block in blocks)
        {
            AddHandlers(block);
            AddFinally(graph, block.FallThroughSuccessor, block.Ordinal);
            AddFinally(graph, block.ConditionalSuccessor, block.Ordinal);
        }
    }

    /// <summary>Returns the handlers that an exception in the block reaches.</summary>
    public IReadOnlyList<int> HandlersOf(BasicBlock block) => _handlers[block.Ordinal];

    /// <summary>Returns the <c>finally</c> blocks that an exception in the block passes; null if it comes to a handler.</summary>
    public static ImmutableArray<ControlFlowRegion>? PassedByException(BasicBlock block)
    {
        ImmutableArray<ControlFlowRegion> passed = HandlersOutwards(block).ToImmutableArray();
        return passed.All(region => region.Kind == ControlFlowRegionKind.Finally) ? passed : null;
    }

    /// <summary>Returns the <c>finally</c> blocks and handlers around a block, in the order in which an exception comes to them.</summary>
    public static IEnumerable<ControlFlowRegion> HandlersOutwards(BasicBlock block)
    {
        for (ControlFlowRegion region = block.EnclosingRegion; region.Kind != ControlFlowRegionKind.Root; region = region.EnclosingRegion!)
        {
            if (region is { Kind: ControlFlowRegionKind.Try, EnclosingRegion: { } statement })
            {
                foreach (ControlFlowRegion handler in statement.NestedRegions.Where(nested => nested != region))
                {
                    yield return handler;
                }
            }
        }
    }

    /// <summary>Returns the blocks that follow by way of a <c>finally</c>: its first one, or what comes after it.</summary>
    public IReadOnlyList<int> ThroughFinally(BasicBlock block) => _throughFinally[block.Ordinal];

    /// <summary>Returns whether the branch leads straight to its destination.</summary>
    public static bool IsDirect(ControlFlowBranch? branch) => branch is { Destination: not null, FinallyRegions.IsEmpty: true };

    private void AddHandlers(BasicBlock block)
    {
        // The root of a lambda is in a region of the surrounding body, whose handlers are not the lambda's.
        for (ControlFlowRegion region = block.EnclosingRegion; region.Kind != ControlFlowRegionKind.Root; region = region.EnclosingRegion!)
        {
            if (region.Kind == ControlFlowRegionKind.Try)
            {
                AddHandlersOf(region, block);
            }

            // Outer handlers are reached through the finally, whose blocks they cover.
            if (region.Kind == ControlFlowRegionKind.Try && region.EnclosingRegion!.Kind == ControlFlowRegionKind.TryAndFinally)
            {
                return;
            }
        }
    }

    private void AddHandlersOf(ControlFlowRegion region, BasicBlock block)
    {
        foreach (ControlFlowRegion handler in region.EnclosingRegion!.NestedRegions)
        {
            if (handler != region)
            {
                _handlers[block.Ordinal].Add(handler.FirstBlockOrdinal);
            }
        }
    }

    private void AddFinally(ControlFlowGraph graph, ControlFlowBranch? branch, int from)
    {
        if (branch is not { Destination: { } destination, FinallyRegions: { IsEmpty: false } regions })
        {
            return;
        }

        _throughFinally[from].Add(regions[0].FirstBlockOrdinal);
        for (int i = 0; i < regions.Length; i++)
        {
            int next = i + 1 < regions.Length ? regions[i + 1].FirstBlockOrdinal : destination.Ordinal;
            for (int last = regions[i].FirstBlockOrdinal; last <= regions[i].LastBlockOrdinal; last++)
            {
                if (Leaves(graph.Blocks[last], regions[i]))
                {
                    _throughFinally[last].Add(next);
                }
            }
        }
    }

    /// <summary>Returns whether the block is the end of this <c>finally</c>, and not of one within it.</summary>
    public static bool Leaves(BasicBlock block, ControlFlowRegion region)
    {
        ControlFlowRegion? around = block.EnclosingRegion;
        while (around is not (null or { Kind: ControlFlowRegionKind.Finally or ControlFlowRegionKind.Filter }))
        {
            around = around.EnclosingRegion;
        }

        return around == region && block.FallThroughSuccessor?.Semantics == ControlFlowBranchSemantics.StructuredExceptionHandling;
    }
}
