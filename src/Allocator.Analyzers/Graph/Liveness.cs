namespace Allocator.Analyzers.Graph;

/// <summary>Which variables are read after each statement, by a backward walk until nothing changes.</summary>
internal sealed class Liveness
{
    private readonly Edges _edges;
    private readonly int _variables;
    private readonly VariableSet[] _liveIn;
    private readonly VariableSet[]?[] _liveAfter;
    private readonly StatementAccess[][] _accesses;

    public Liveness(ControlFlowGraph graph, Edges edges, VariableTable variables)
    {
        _edges = edges;
        _variables = variables.Count;
        int blocks = graph.Blocks.Length;
        _liveIn = new VariableSet[blocks];
        _liveAfter = new VariableSet[]?[blocks];
        _accesses = new StatementAccess[blocks][];
        for (int i = 0; i < blocks; i++)
        {
            _liveIn[i] = new VariableSet(_variables);
            _accesses[i] = graph.Blocks[i].Statements().Select(statement => StatementAccess.Of(statement, variables)).ToArray();
        }

        bool changed = true;
        while (changed)
        {
            changed = false;
            for (int i = blocks - 1; i >= 0; i--)
            {
                changed |= _liveIn[i].Add(WalkBack(graph.Blocks[i], null));
            }
        }
    }

    /// <summary>Returns the variables whose present value is read after the statement.</summary>
    public VariableSet After(BasicBlock block, int statement) => (_liveAfter[block.Ordinal] ??= AfterEach(block))[statement];

    private VariableSet[] AfterEach(BasicBlock block)
    {
        VariableSet[] after = new VariableSet[_accesses[block.Ordinal].Length];
        WalkBack(block, after);
        return after;
    }

    private VariableSet WalkBack(BasicBlock block, VariableSet[]? after)
    {
        int ordinal = block.Ordinal;
        VariableSet live = new(_variables);
        AddDirect(live, block.FallThroughSuccessor);
        AddDirect(live, block.ConditionalSuccessor);
        Add(live, _edges.ThroughFinally(block));
        VariableSet inHandlers = new(_variables);
        Add(inHandlers, _edges.HandlersOf(block));
        live.Add(inHandlers);
        for (int i = _accesses[ordinal].Length - 1; i >= 0; i--)
        {
            if (after is not null)
            {
                after[i] = live.Clone();
            }

            _accesses[ordinal][i].WalkBack(live);
            live.Add(inHandlers);
        }

        return live;
    }

    private void AddDirect(VariableSet live, ControlFlowBranch? branch)
    {
        if (Edges.IsDirect(branch))
        {
            live.Add(_liveIn[branch!.Destination!.Ordinal]);
        }
    }

    private void Add(VariableSet live, IReadOnlyList<int> blocks)
    {
        foreach (int block in blocks)
        {
            live.Add(_liveIn[block]);
        }
    }
}
