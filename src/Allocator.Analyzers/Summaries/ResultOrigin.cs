using System.Runtime.CompilerServices;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Summaries;

/// <summary>
/// Finds what a method returns on all paths: new owners, which makes it a factory though nothing marks it, or a view of one parameter.
/// </summary>
internal sealed partial class ResultOrigin
{
    private readonly KnownSymbols _known;
    private readonly bool _looksForFresh;
    private readonly Question<(ISymbol Symbol, ISymbol Method, Asked About), Origin> _question;

    public ResultOrigin(KnownSymbols known, bool looksForFresh)
    {
        _known = known;
        _looksForFresh = looksForFresh;
        _question = new(looksForFresh ? known.Origins.Fresh : known.Origins.Views);
    }

    /// <summary>Returns where all that a method returns comes from.</summary>
    public Origin OfMethod(IMethodSymbol method)
    {
        // A recursive call is assumed to return what the other paths of its method return.
        IMethodSymbol definition = MethodBodies.DefinitionOf(method);
        return _question.Ask((definition, definition, Asked.Value), Origin.Any, () => Resolve(definition));
    }

    private Origin Resolve(IMethodSymbol method)
    {
        bool isReference = method.ReturnsByRef || method.ReturnsByRefReadonly;
        bool isCandidate = _looksForFresh
            ? _known.Owning.IsBuffer(_known.Types.ResultOfTask(method.ReturnType) ?? method.ReturnType)
            : isReference || _known.Types.CanShow(method.ReturnType);
        if (!isCandidate)
        {
            return Origin.Unknown;
        }

        MethodBody? body = _known.Bodies.Of(method);
        Origin all = body is null ? Origin.Any : OfBody(body, method, isReference);
        int seen = body is null ? 0 : 1;
        foreach (IMethodSymbol overriding in _known.Bodies.Overriding(method))
        {
            seen++;
            Origin one = OfMethod(overriding);
            all = all.And(one.Source is IParameterSymbol parameter ? Origin.Of(method.Parameters[parameter.Ordinal]) : one);
        }

        // One implementation proves nothing about the others; two that agree are accepted.
        return seen == 0 || (seen == 1 && MethodBodies.MayBeOverridden(method)) ? Origin.Unknown : all;
    }

    private Origin OfBody(MethodBody body, IMethodSymbol method, bool isReference)
    {
        if (body.IsIterator || (method.IsAsync && !_looksForFresh))
        {
            return Origin.Unknown;
        }

        Origin all = Origin.Any;
        foreach (IReturnOperation returning in body.Returns)
        {
            if (returning.ReturnedValue is { } value)
            {
                all = all.And(OfValue(value, body, method, isReference));
            }
        }

        return all;
    }

    private Origin OfValue(IOperation value, MethodBody body, IMethodSymbol method, bool isReference = false)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        switch (value)
        {
            case { ConstantValue: { HasValue: true, Value: null } } or IDefaultValueOperation or IThrowOperation:
                return Origin.Any;
            case IParameterReferenceOperation { Parameter: var parameter }:
                return OfParameter(parameter, body, method);
            case ILocalReferenceOperation { Local: { RefKind: RefKind.None } local }:
                return OfVariable(local, body, method);
            case IInstanceReferenceOperation { ReferenceKind: InstanceReferenceKind.ContainingTypeInstance, Type: { } type }:
                return Origin.Of(type.OriginalDefinition);
            case IConversionOperation conversion:
                return conversion.OperatorMethod is { } by && !_known.Members.IsKnown(by)
                    ? Origin.Unknown : OfValue(conversion.Operand, body, method);
            case IConditionalOperation { WhenFalse: { } whenFalse } conditional:
                return OfValue(conditional.WhenTrue, body, method, isReference).And(OfValue(whenFalse, body, method, isReference));
            case ICoalesceOperation coalesce:
                return OfValue(coalesce.Value, body, method).And(OfValue(coalesce.WhenNull, body, method));
            case ISwitchExpressionOperation choice:
                return choice.Arms.Aggregate(Origin.Any, (all, arm) => all.And(OfValue(arm.Value, body, method, isReference)));
            case IAwaitOperation awaiting:
                return awaiting.AwaitedCall() is { } awaited ? Made(awaited.TargetMethod) : Origin.Unknown;
            case IArrayElementReferenceOperation { ArrayReference: var array }:
                return OfItem(array, body, method);
            case IPropertyReferenceOperation { Property.IsIndexer: true, Instance: { } list }
                when CollectedType.ItemOf(list.Type) is not null:
                return OfItem(list, body, method);
            case IFieldReferenceOperation { Instance: { } instance } field:
                return OfMember(instance, field.Field, body, method);
            case IPropertyReferenceOperation { Instance: { } instance } property:
                return IsView(property.Property, property.Type) || (isReference && _known.Members.IsKnown(property.Property))
                    ? OfValue(instance, body, method) : OfMember(instance, property.Property, body, method);
            case IImplicitIndexerReferenceOperation indexer:
                return OfValue(indexer.Instance, body, method);
            case IInvocationOperation call:
                return OfCall(call, body, method, isReference);
            case IObjectCreationOperation creation:
                return OfCreation(creation, body, method);
            case var operation when operation.CalledOperator() is { } called:
                return Made(called) is { IsFresh: true } made ? made : Origin.Unknown;
            default:
                return Origin.Unknown;
        }
    }

    private Origin OfParameter(IParameterSymbol parameter, MethodBody body, IMethodSymbol method)
    {
        if (!SymbolEqualityComparer.Default.Equals(parameter.ContainingSymbol, method))
        {
            // A parameter of the primary constructor is like a field of the object.
            return _known.Owning.Owns(method.ContainingType, parameter) ? Origin.Of(method.ContainingType) : Origin.Unknown;
        }

        return body.Values(parameter).Count == 0 ? Origin.Of(parameter) : Origin.Unknown;
    }

    private Origin OfMember(IOperation instance, ISymbol member, MethodBody body, IMethodSymbol method)
    {
        if (_looksForFresh && IsEmptied(member, body))
        {
            return Origin.Fresh;
        }

        if (_known.Owning.Owns(member.ContainingType, member))
        {
            return OfValue(instance, body, method);
        }

        return member is IPropertySymbol { GetMethod: { } getter } && OfMethod(getter).Source is ITypeSymbol
            ? OfValue(instance, body, method) : Origin.Unknown;
    }

    // The value is one of the buffers that an object owns.
    private Origin OfItem(IOperation collection, MethodBody body, IMethodSymbol method) =>
        collection is IMemberReferenceOperation { Member: var member, Instance: { } instance }
        && _known.Owning.Owns(member.ContainingType, member) ? OfValue(instance, body, method) : Origin.Unknown;

    // If the method clears the field, the buffer that it had belongs to the caller.
    private static bool IsEmptied(ISymbol field, MethodBody body) => field is IFieldSymbol && body.Root.Descendants().Any(
        operation => operation is IFieldReferenceOperation { Instance: IInstanceReferenceOperation } reference
            && SymbolEqualityComparer.Default.Equals(reference.Field, field) && MemberWrites.IsCleared(reference.Syntax)
            && Certainty.IsCertain(reference, body));

    private Origin OfCall(IInvocationOperation call, MethodBody body, IMethodSymbol method, bool isReference)
    {
        IMethodSymbol target = call.TargetMethod;
        if (_looksForFresh && target.Name == "AsTask" && call.Instance is { } task)
        {
            return OfValue(task, body, method);
        }

        if (_looksForFresh && target is { Name: "FromResult", ContainingType.Name: "Task" or "ValueTask" })
        {
            return OfValue(call.Arguments[0].Value, body, method);
        }

        if (_looksForFresh && target is { Name: "Exchange", ContainingType.Name: "Interlocked" }
            && call.Arguments[0].Value is IFieldReferenceOperation { Instance: IInstanceReferenceOperation } emptied
            && MemberWrites.IsCleared(emptied.Syntax))
        {
            return Origin.Fresh;
        }

        if (IsView(target, call.Type) || (isReference && _known.Members.IsKnown(target)))
        {
            // One argument of a known member is the memory; the others are numbers.
            Origin all = call.Instance is null ? Origin.Any : OfValue(call.Instance, body, method);
            return call.Arguments.Where(argument => _known.Types.CanShow(argument.Value.Type))
                .Aggregate(all, (origin, argument) => origin.And(OfValue(argument.Value, body, method)));
        }

        if (_looksForFresh && (_known.Factories.LambdaOf(call) is { } lambda ? IsMadeBy(lambda) : _known.Factories.IsRent(call)))
        {
            return Origin.Fresh;
        }

        Origin made = Made(target);
        return made.Source switch
        {
            IParameterSymbol shown => call.Arguments.FirstOrDefault(argument => argument.Parameter?.Ordinal == shown.Ordinal) is { } given
                && (!_looksForFresh || _known.Summaries.Of(given.Parameter) == Passing.Returned)
                ? OfValue(given.Value, body, method) : Origin.Unknown,
            ITypeSymbol => call.Instance is { } instance ? OfValue(instance, body, method) : Origin.Unknown,
            _ => made,
        };
    }

    private Origin Made(IMethodSymbol method) =>
        _known.Factories.IsDeclared(method) ? (_looksForFresh ? Origin.Fresh : Origin.Unknown)
        : _known.Members.IsKnown(method) ? Origin.Unknown
        : OfMethod(method);

    private bool IsView(ISymbol member, ITypeSymbol? type) =>
        _known.Members.IsKnown(member) && (_known.IsRaw(type) || _known.Types.IsMemory(type)) && !_known.Types.IsMemoryHandle(type);

    // A lambda may see other values of a variable than the surrounding method.
    private Origin OfVariable(ISymbol local, MethodBody body, IMethodSymbol method) =>
        _question.Ask((local, method, Asked.Value), Origin.Any, () => FindOfVariable(local, body, method));

    private Origin FindOfVariable(ISymbol local, MethodBody body, IMethodSymbol method)
    {
        IReadOnlyList<IOperation?> values = body.Values(local);
        Origin all = values.Count == 0 ? Origin.Unknown : Origin.Any;
        foreach (IOperation? value in values)
        {
            all = all.And(value is null ? Origin.Unknown : OfValue(value, body, method));
        }

        bool isFresh = all.IsFresh && !IsInUsing(local) && DisposedAsideOnly(local, body)
            && !ValueTrace.Of(local, body, _known, _known.Summaries.Of, method).Escapes;
        return all.IsFresh && !isFresh ? Origin.Unknown : all;
    }

    private static bool IsInUsing(ISymbol local) => local.DeclaringSyntaxReferences.Any(reference =>
        reference.GetSyntax().Parent?.Parent is UsingStatementSyntax or LocalDeclarationStatementSyntax { UsingKeyword.RawKind: not 0 });

    // The disposal comes before an exception, another return or another value; an owner that is disposed on the path that returns it is not
    // handed to the caller.
    private bool DisposedAsideOnly(ISymbol local, MethodBody body) => body.References(local).All(reference =>
        reference.Parent is not IInvocationOperation call || !_known.Members.IsDispose(call.TargetMethod)
        || call.Syntax.Ancestors().Any(node => node is CatchClauseSyntax or IfStatementSyntax)
        || IsReplacedNext(call.Syntax, local));

    private static bool IsReplacedNext(SyntaxNode call, ISymbol local) =>
        call.Parent is ExpressionStatementSyntax { Parent: BlockSyntax block } statement
        && block.Statements.ElementAtOrDefault(block.Statements.IndexOf(statement) + 1) is ExpressionStatementSyntax next
        && next.Expression is AssignmentExpressionSyntax { Left: IdentifierNameSyntax name } && name.Identifier.ValueText == local.Name;
}
