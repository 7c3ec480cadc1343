using System.Runtime.CompilerServices;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Summaries;

namespace Allocator.Analyzers.Flow;

/// <summary>Patterns, which give values to the variables in them, and deconstructions.</summary>
internal sealed partial class Evaluator
{
    private void EvaluatePattern(IPatternOperation pattern, Holding value, IOperation test)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        switch (pattern)
        {
            case IDeclarationPatternOperation declaration:
                // If it has another type, it does not exist on this path, so it need not be disposed there.
                State.Handed |= value.Own;
                Declare(declaration.DeclaredSymbol, value);
                break;
            case IRecursivePatternOperation recursive:
                State.Handed |= SymbolEqualityComparer.Default.Equals(recursive.MatchedType, recursive.InputType) ? 0 : value.Own;
                EvaluateParts(recursive, value, test);
                break;
            case IBinaryPatternOperation both:
                EvaluatePattern(both.LeftPattern, value, test);
                EvaluatePattern(both.RightPattern, value, test);
                break;
            case INegatedPatternOperation negated:
                EvaluatePattern(negated.Pattern, value, test);
                break;
            case IConstantPatternOperation or ITypePatternOperation or IDiscardPatternOperation or IRelationalPatternOperation:
                break;
            default:
                Escape(value);
                ForgetDeclared(pattern);
                break;
        }
    }

    private void EvaluateParts(IRecursivePatternOperation pattern, Holding value, IOperation test)
    {
        if (!pattern.DeconstructionSubpatterns.IsEmpty)
        {
            Escape(value);
            ForgetDeclared(pattern);
            return;
        }

        foreach (IPropertySubpatternOperation part in pattern.PropertySubpatterns)
        {
            Holding member = value.All == 0 ? default : EvaluatePart(part.Member, value, test);
            EvaluatePattern(part.Pattern, member, test);
        }

        Declare(pattern.DeclaredSymbol, value);
    }

    private Holding EvaluatePart(IOperation member, Holding value, IOperation test)
    {
        if (value.Held == 0 && member is IPropertyReferenceOperation { Property: var property } && _members.IsKnown(property)
            && !property.ReturnsByRef && !property.ReturnsByRefReadonly)
        {
            return View(test, value, property.Type);
        }

        if (_types.CanShow(member.Type))
        {
            Escape(value);
        }

        return default;
    }

    // If the pattern does not match, the variable is not assigned, so it may not hold the owner.
    private void Declare(ISymbol? declared, Holding value)
    {
        if (declared is not null && _variables.TryGet(declared, out int variable))
        {
            if (_variables.IsShared(variable))
            {
                Escape(value);
            }

            State[variable] = value;
        }
    }

    private Holding EvaluateDeconstruction(IDeconstructionAssignmentOperation deconstruction)
    {
        if (IsPairwise(deconstruction, out ITupleOperation? targets, out ITupleOperation? values))
        {
            Holding[] parts = new Holding[values!.Elements.Length];
            for (int i = 0; i < parts.Length; i++)
            {
                parts[i] = Evaluate(values.Elements[i]);
            }

            for (int i = 0; i < parts.Length; i++)
            {
                Assign(targets!.Elements[i], parts[i], isRef: false);
            }

            return default;
        }

        if (deconstruction.Target.Strip() is ITupleOperation { Elements: var places }
            && _body.Sites.BitOf(deconstruction.Value.Strip()) != 0
            && SiteTable.TupleCall(deconstruction.Value) is { TargetMethod: var method }
            && _body.Known.Factories.ItemOf(method) is var item and >= 0)
        {
            Holding made = Evaluate(deconstruction.Value.Strip());
            for (int i = 0; i < places.Length; i++)
            {
                Assign(places[i], i == item ? made : default, isRef: false);
            }

            return default;
        }

        if (Deconstruction.MethodOf(deconstruction, _body.Known) is { } own && _body.Known.Summaries.Of(own) == Passing.HandedOut)
        {
            TakeApart(deconstruction, own);
            return default;
        }

        EscapeChildren(deconstruction);
        foreach (IOperation operation in deconstruction.Target.DescendantsAndSelf())
        {
            if (operation is ILocalReferenceOperation or IParameterReferenceOperation && _variables.TryGet(operation, out int variable))
            {
                State[variable] = default;
            }
        }

        return default;
    }

    // A part that is memory is a view of the object.
    private void TakeApart(IDeconstructionAssignmentOperation deconstruction, IMethodSymbol method)
    {
        Holding whole = Evaluate(deconstruction.Value);
        if (whole.Held != 0)
        {
            Escape(whole);
            whole = default;
        }

        ImmutableArray<IOperation> targets = ((ITupleOperation)deconstruction.Target.Strip()).Elements;
        for (int i = 0; i < targets.Length; i++)
        {
            Assign(targets[i], _types.IsMemory(method.Parameters[i].Type) ? whole.AsMemory() : default, isRef: false);
        }
    }

    // `(a, b) = (x, y)`, and `var (a, b) = (x, y)`.
    private static bool IsPairwise(
        IDeconstructionAssignmentOperation deconstruction, out ITupleOperation? targets, out ITupleOperation? values)
    {
        targets = deconstruction.Target.Strip() as ITupleOperation;
        values = deconstruction.Value.Strip() as ITupleOperation;
        if (targets is null || values is null || targets.Elements.Length != values.Elements.Length)
        {
            return false;
        }

        foreach (IOperation target in targets.Elements)
        {
            if (target.Strip() is not (ILocalReferenceOperation or IDiscardOperation))
            {
                return false;
            }
        }

        return true;
    }
}
