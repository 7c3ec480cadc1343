using Allocator.Analyzers.Graph;

namespace Allocator.Analyzers.Summaries;

/// <summary>Where the value is put: variables, members, the result.</summary>
internal sealed partial class ValueTrace
{
    private void FollowDeclarator(IVariableDeclaratorOperation declarator, ILocalSymbol local, bool isHolder)
    {
        for (IOperation? parent = declarator.Parent; parent is not null; parent = parent.Parent)
        {
            if (parent is IUsingOperation or IUsingDeclarationOperation)
            {
                // What has the buffer disposes it with itself, but for a stream that leaves it open.
                bool isOwner = !isHolder && !_known.Types.IsMemoryHandle(local.Type);
                Disposes |= isOwner;
                Escapes |= isOwner || (isHolder && !_known.Members.IsOfBaseLibrary(local.Type));
                break;
            }

            if (parent is IBlockOperation)
            {
                break;
            }
        }

        AliasLocal(local, isHolder);
    }

    private void AliasLocal(ISymbol local, bool isHolder)
    {
        if (_onlyInFunctions && IsDeclaredOutside(local))
        {
            Escapes = true;
        }
        else
        {
            Alias(local, isHolder);
        }
    }

    private static bool IsDeclaredOutside(ISymbol local) =>
        local.ContainingSymbol is not IMethodSymbol { MethodKind: MethodKind.AnonymousFunction or MethodKind.LocalFunction };

    private void FollowAssignment(ISimpleAssignmentOperation assignment, bool isHolder)
    {
        IOperation target = assignment.Target.Strip();
        if (target.ReferencedVariable() is { } variable and not IParameterSymbol { RefKind: not RefKind.None } && !assignment.IsRef)
        {
            AliasLocal(variable, isHolder);
        }
        else if (_isConstructor && target is IMemberReferenceOperation { Instance: IInstanceReferenceOperation } member
            && member is IFieldReferenceOperation or IPropertyReferenceOperation && _body.FunctionAround(assignment) is null)
        {
            bool isOwned = !isHolder && _known.Owning.Owns(member.Member.ContainingType, member.Member);
            IsTakenOver |= isOwned;
            IsHeldByResult |= !isOwned;
            Escapes |= isOwned && assignment.Value.Strip() is IConditionalOperation or ISwitchExpressionOperation;
            Escapes |= assignment.Syntax.Parent is not (ArrowExpressionClauseSyntax
                or ExpressionStatementSyntax { Parent: BlockSyntax { Parent: BaseMethodDeclarationSyntax } });
        }
        else if (target is not IDiscardOperation)
        {
            Escapes = true;
        }

        if (assignment.Parent is not IExpressionStatementOperation)
        {
            Follow(assignment, isHolder);
        }
    }

    private void FollowReturn(IReturnOperation returning, bool isHolder)
    {
        if (_onlyInFunctions || returning.Kind != OperationKind.Return || _body.FunctionAround(returning) is not null)
        {
            Escapes = true;
        }
        else if (isHolder && _known.Types.IsTask(returning.ReturnedValue?.Type))
        {
            IsHeldByTask = true;
        }
        else if (isHolder)
        {
            IsHeldByResult = true;
        }
        else
        {
            IsReturned = true;
        }
    }
}
