using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Flow;

/// <summary>A method, lambda or local function with all that the analysis asks about it.</summary>
internal sealed class Body
{
    public Body(ControlFlowGraph graph, ISymbol symbol, KnownSymbols known, SiteTable sites)
    {
        Graph = graph;
        Symbol = symbol;
        Known = known;
        Sites = sites;
        Variables = new VariableTable(graph, symbol, known);
        Edges = new Edges(graph);
    }

    public ControlFlowGraph Graph { get; }

    public ISymbol Symbol { get; }

    public KnownSymbols Known { get; }

    public SiteTable Sites { get; }

    public VariableTable Variables { get; }

    public Edges Edges { get; }
}
