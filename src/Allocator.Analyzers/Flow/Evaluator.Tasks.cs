using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Rules;
using Microsoft.CodeAnalysis.Text;

namespace Allocator.Analyzers.Flow;

/// <summary>Things that outlive the statement that starts them: tasks that use a buffer, and handles that pin it.</summary>
internal sealed partial class Evaluator
{
    private readonly Dictionary<int, IOperation> _begun = new();
    private readonly Dictionary<int, IOperation?> _pins = new();
    private readonly Dictionary<int, SortedSet<int>> _disposals = new();

    /// <summary>Returns the call that began the task that uses an allocation, or null.</summary>
    public IOperation? BegunFor(int site) => _begun.TryGetValue(site, out IOperation? call) ? call : null;

    private void Begin(IOperation call, ulong sites)
    {
        State.Begin(sites);
        for (int site = 0; site < _body.Sites.Count; site++)
        {
            if ((sites >> site & 1) != 0)
            {
                _begun[site] = call;
            }
        }
    }

    private void NoteDisposal(IOperation operation, ulong sites)
    {
        foreach (int site in SitesOf(sites))
        {
            if (!_disposals.TryGetValue(site, out SortedSet<int>? ends))
            {
                _disposals.Add(site, ends = new SortedSet<int>());
            }

            // A `using` disposes at the end of its block.
            SyntaxNode syntax = operation.Syntax.FirstAncestorOrSelf<UsingStatementSyntax>() is { } block
                && !block.Statement.Span.Contains(operation.Syntax.Span) ? block : operation.Syntax;
            ends.Add(syntax.Span.End);
        }
    }

    /// <summary>Returns the line of the last disposal of an allocation before a place, or of the first at all.</summary>
    public object LineOfDisposal(int site, SyntaxNode place)
    {
        int end = !_disposals.TryGetValue(site, out SortedSet<int>? ends) ? place.SpanStart
            : ends.Min <= place.SpanStart ? ends.GetViewBetween(ends.Min, place.SpanStart).Max
            : ends.Min;
        return place.SyntaxTree.GetLineSpan(new TextSpan(end - 1, 0)).StartLinePosition.Line + 1;
    }

    private void Pin(IOperation call, ulong sites)
    {
        State.Pinned |= sites;
        for (int site = 0; site < _body.Sites.Count; site++)
        {
            if ((sites >> site & 1) != 0)
            {
                _pins[site] = _pins.TryGetValue(site, out IOperation? other) && other != call ? null : call;
            }
        }
    }

    // If a buffer is pinned twice, the end of one handle proves nothing.
    private void Unpin(ulong sites)
    {
        for (int site = 0; site < _body.Sites.Count; site++)
        {
            if ((sites >> site & 1) != 0 && _pins.TryGetValue(site, out IOperation? call) && call is not null)
            {
                State.Pinned &= ~(1UL << site);
            }
        }
    }

    /// <summary>Notes the owner of the previous round if its variable gets a new one and nothing else holds the old one.</summary>
    private void NoteOverwritten(IOperation operation, ulong site)
    {
        if (Findings is null || (State.Undisposed & ~State.Disposed & ~State.Handed & site) == 0)
        {
            return;
        }

        IOperation? parent = operation.Parent;
        while (parent is IConversionOperation or IAwaitOperation)
        {
            parent = parent.Parent;
        }

        if (parent is not ISimpleAssignmentOperation { Target: ILocalReferenceOperation target }
            || !_variables.TryGet(target, out int variable) || !LoopRound.Repeats(parent.Syntax, target.Local))
        {
            return;
        }

        for (int i = 0; i < State.Count; i++)
        {
            if (((State[i].Own & site) != 0) != (i == variable) || (State[i].Held & site) != 0)
            {
                return;
            }
        }

        if ((State[variable].Uncertain & site) == 0)
        {
            Findings.Add(new Finding(LifetimeRules.LostByLoop, parent, site));
        }
    }
}
