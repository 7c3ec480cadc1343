using Allocator.Analyzers.Checks;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Rules;
using Allocator.Analyzers.Symbols;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Allocator.Analyzers;

/// <summary>Finds buffers that are used without their owner: finalized, disposed or left behind.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class LifetimeAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics => LifetimeRules.All;

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterCompilationStartAction(static start =>
        {
            if (KnownSymbols.Resolve(start.Compilation) is { } known)
            {
                start.RegisterOperationBlockStartAction(block => Register(block, known));
            }
        });
    }

    // A control-flow graph is made only for bodies that call a factory or make an object that owns.
    private static void Register(OperationBlockStartAnalysisContext block, KnownSymbols known)
    {
        int allocates = 0;
        block.RegisterOperationAction(
            context =>
            {
                IMethodSymbol? called = context.Operation switch
                {
                    IObjectCreationOperation creation => creation.Constructor,
                    IInvocationOperation call => call.TargetMethod,
                    var other => other.CalledOperator(),
                };
                if (called is not null && Volatile.Read(ref allocates) == 0 && Allocates(called, context.Operation, known))
                {
                    Volatile.Write(ref allocates, 1);
                }
            },
            OperationKind.Invocation, OperationKind.ObjectCreation, OperationKind.Binary, OperationKind.Unary);
        block.RegisterOperationBlockEndAction(end =>
        {
            if (Volatile.Read(ref allocates) != 0)
            {
                Analyze(end, known);
            }
        });
    }

    // An overflow of the stack would end the compiler. A body with an expression of thousands of terms is not analysed instead.
    private static bool Allocates(IMethodSymbol called, IOperation operation, KnownSymbols known)
    {
        try
        {
            return known.Factories.Contains(called) || known.Factories.HandsOut(called) || known.Factories.Fills(called)
                || known.Factories.ItemOf(called) >= 0 || (operation is IInvocationOperation rent && known.Factories.IsRent(rent));
        }
        catch (InsufficientExecutionStackException)
        {
            return false;
        }
    }

    private static void Analyze(OperationBlockAnalysisContext context, KnownSymbols known)
    {
        BodyAnalysis analysis = new(known, context.ReportDiagnostic, context.CancellationToken);
        HashSet<IOperation> analyzed = new();
        foreach (IOperation block in context.OperationBlocks)
        {
            try
            {
                // The initializer of a constructor and its body are two blocks of one graph.
                ControlFlowGraph graph = context.GetControlFlowGraph(block);
                if (analyzed.Add(graph.OriginalOperation))
                {
                    analysis.Run(graph, context.OwningSymbol);
                }
            }
            catch (InsufficientExecutionStackException)
            {
                // As in Allocates.
            }
        }
    }
}
