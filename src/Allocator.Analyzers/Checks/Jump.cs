using Allocator.Analyzers.Graph;
using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Checks;

/// <summary>A <c>throw</c>, <c>continue</c> or <c>break</c>, after which the variables of its method or loop are gone.</summary>
internal sealed class Jump
{
    private readonly StatementSyntax _statement;
    private readonly SyntaxNode? _scope;

    private Jump(StatementSyntax statement, SyntaxNode? scope)
    {
        _statement = statement;
        _scope = scope;
    }

    public Location Place => _statement.GetLocation();

    /// <summary>Gets the keyword.</summary>
    public string Word => _statement.GetFirstToken().ValueText;

    /// <summary>
    /// Returns the jump by which a branch leaves: an exception that nothing here handles, or the end of a round or of a loop.
    /// </summary>
    public static Jump? Behind(BasicBlock block, ControlFlowBranch branch)
    {
        if (branch.Semantics is ControlFlowBranchSemantics.Throw)
        {
            StatementSyntax? thrown = block.BranchValue?.Syntax.FirstAncestorOrSelf<StatementSyntax>();
            return thrown is ThrowStatementSyntax ? new Jump(thrown, null) : null;
        }

        IOperation? last = block.Statements().LastOrDefault();
        StatementSyntax? statement = last?.Syntax.FirstAncestorOrSelf<StatementSyntax>();
        StatementSyntax? next = last is null || statement is null ? null
            : last != block.BranchValue ? Next(statement)
            : statement is IfStatementSyntax choice && IsWhenTrue(block, branch, choice) ? choice.Statement
            : null;
        while (next is BlockSyntax { Statements: { Count: > 0 } statements })
        {
            next = statements[0];
        }

        bool isJump = next is ContinueStatementSyntax or BreakStatementSyntax;
        return isJump && LoopAround(next!) is { } loop ? new Jump(next!, loop) : null;
    }

    /// <summary>Returns whether no code after the jump can reach a variable; null means a value without a name.</summary>
    public bool Ends(ISymbol? variable) => _scope is null || variable is null
        || (variable is ILocalSymbol { DeclaringSyntaxReferences: { Length: 1 } declared } && _scope.Span.Contains(declared[0].Span));

    private static StatementSyntax? Next(StatementSyntax statement) => statement.Parent is BlockSyntax { Statements: var list }
        && list.IndexOf(statement) is >= 0 and var index && index + 1 < list.Count ? list[index + 1] : null;

    // The branch into the statement of an `if`, which has no block of its own if it is only a jump.
    private static bool IsWhenTrue(BasicBlock block, ControlFlowBranch branch, IfStatementSyntax choice) =>
        choice.Condition.Span.Contains(block.BranchValue!.Syntax.Span)
        && (branch == block.ConditionalSuccessor) == (block.ConditionKind == ControlFlowConditionKind.WhenTrue)
        && branch.Destination?.Statements().FirstOrDefault() is var first
        && (first is null || !choice.Span.Contains(first.Syntax.Span));

    // A `break` in a `switch` leaves only the `switch`.
    private static StatementSyntax? LoopAround(StatementSyntax jump)
    {
        StatementSyntax? around = jump.Ancestors().OfType<StatementSyntax>().FirstOrDefault(node => node is CommonForEachStatementSyntax
            or ForStatementSyntax or WhileStatementSyntax or DoStatementSyntax or LocalFunctionStatementSyntax
            || (node is SwitchStatementSyntax && jump.IsKind(SyntaxKind.BreakStatement)));
        return around is SwitchStatementSyntax or LocalFunctionStatementSyntax ? null : around;
    }
}
