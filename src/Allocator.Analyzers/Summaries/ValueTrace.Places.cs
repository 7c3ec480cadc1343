using Allocator.Analyzers.Graph;

namespace Allocator.Analyzers.Summaries;

/// <summary>Where the value is put: variables, members, the result.</summary>
internal sealed partial class ValueTrace
{
    private void FollowDeclarator(IVariableDeclaratorOperation declarator, ILocalSymbol local, Grip grip)
    {
        for (IOperation? parent = declarator.Parent; parent is not null; parent = parent.Parent)
        {
            if (parent is IUsingOperation or IUsingDeclarationOperation)
            {
                // An object that holds the buffer disposes it too, except a stream that leaves it open.
                bool isOwner = !grip.IsHolder && !_known.Types.IsMemoryHandle(local.Type);
                Disposes |= isOwner;
                Escapes |= isOwner || (grip.IsHolder && !_known.Members.IsOfBaseLibrary(local.Type)
                    && !DisposesHolderAlone(grip, local.Type));
                break;
            }

            if (parent is IBlockOperation)
            {
                break;
            }
        }

        AliasLocal(local, grip);
    }

    private void AliasLocal(ISymbol local, Grip grip)
    {
        if (_onlyInFunctions && IsDeclaredOutside(local))
        {
            Escapes = true;
        }
        else
        {
            Alias(local, grip);
        }
    }

    private static bool IsDeclaredOutside(ISymbol local) =>
        local.ContainingSymbol is not IMethodSymbol { MethodKind: MethodKind.AnonymousFunction or MethodKind.LocalFunction };

    private void FollowAssignment(ISimpleAssignmentOperation assignment, Grip grip)
    {
        IOperation target = assignment.Target.Strip();
        if (target.ReferencedVariable() is { } variable and not IParameterSymbol { RefKind: not RefKind.None } && !assignment.IsRef)
        {
            AliasLocal(variable, grip);
        }
        else if (target is IParameterReferenceOperation { Parameter: { RefKind: RefKind.Out } handed })
        {
            FollowOut(handed, grip);
        }
        else if (_isConstructor && target is IMemberReferenceOperation { Instance: IInstanceReferenceOperation } member
            && member is IFieldReferenceOperation or IPropertyReferenceOperation && _body.FunctionAround(assignment) is null)
        {
            bool isOwned = !grip.IsHolder && _known.Owning.Owns(member.Member.ContainingType, member.Member);
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
            Follow(assignment, grip);
        }
    }

    // A part of a tuple that is taken apart at once, or a variable that gets one.
    private void FollowPart(IOperation part, IDeconstructionAssignmentOperation pairs, Grip grip)
    {
        if (part.Parent == pairs.Target.Strip())
        {
            return;
        }

        IOperation? target = Deconstruction.TargetOf(part, pairs);
        if (target is IParameterReferenceOperation { Parameter: { RefKind: RefKind.Out } handed })
        {
            FollowOut(handed, grip);
        }
        else if (target is ILocalReferenceOperation { Local: { RefKind: RefKind.None } local })
        {
            AliasLocal(local, grip);
        }
        else
        {
            Escapes |= target is not IDiscardOperation;
        }
    }

    private void FollowOut(IParameterSymbol parameter, Grip grip)
    {
        bool isMemory = _subject is IMethodSymbol && !grip.IsHolder && _known.Types.IsMemory(parameter.Type);
        IsHandedOut |= isMemory;
        IsReturned |= !isMemory;
    }

    private void FollowParts(IDeconstructionAssignmentOperation deconstruction, Grip grip)
    {
        if (grip.IsHolder || Deconstruction.MethodOf(deconstruction, _known) is not { } method
            || _passingOf(method, null) != Passing.HandedOut)
        {
            Escapes = true;
            return;
        }

        foreach (IOperation target in ((ITupleOperation)deconstruction.Target.Strip()).Elements)
        {
            if (target.Strip() is ILocalReferenceOperation { Local: var local } && _known.Types.IsMemory(local.Type))
            {
                AliasLocal(local, Grip.Direct);
            }
        }
    }

    private void FollowReturn(IReturnOperation returning, Grip grip)
    {
        if (_onlyInFunctions && grip.IsHolder && _known.Types.IsTask(returning.ReturnedValue?.Type)
            && _body.FunctionAround(returning) is IAnonymousFunctionOperation { Symbol.IsAsync: false })
        {
            // The lambda holds the buffer, and so does whatever holds its task.
            return;
        }

        if (_onlyInFunctions || returning.Kind != OperationKind.Return || _body.FunctionAround(returning) is not null)
        {
            Escapes = true;
        }
        else if (grip.IsHolder && _known.Types.IsTask(returning.ReturnedValue?.Type))
        {
            IsHeldByTask = true;
        }
        else if (grip.IsHolder)
        {
            IsHeldByResult = true;
        }
        else
        {
            IsReturned = true;
        }
    }
}
