using System.Collections.Immutable;
using Allocator.Analyzers.Rules;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;

namespace Allocator.CodeFixes.Awaiting;

/// <summary>Makes the method async and awaits the tasks that it returned: the owner is disposed when they have completed.</summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(AwaitReturnedTask))]
public sealed class AwaitReturnedTask : CodeFixProvider
{
    private const string Title = "Make the method async and await the task";

    // A method with two diagnostics is changed once.
    private static readonly FixAllProvider s_fixAll = FixAllProvider.Create(
        static (context, document, diagnostics) => FixAsync(document, diagnostics, context.CancellationToken));

    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds { get; } = ImmutableArray.Create(RuleIds.Unawaited);

    /// <inheritdoc/>
    public override FixAllProvider GetFixAllProvider() => s_fixAll;

    /// <inheritdoc/>
    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        foreach (Diagnostic diagnostic in context.Diagnostics)
        {
            ImmutableArray<Diagnostic> one = ImmutableArray.Create(diagnostic);
            if (await FixAsync(context.Document, one, context.CancellationToken).ConfigureAwait(false) is { } changed)
            {
                context.RegisterCodeFix(CodeAction.Create(Title, _ => Task.FromResult(changed), nameof(AwaitReturnedTask)), diagnostic);
            }
        }
    }

    private static async Task<Document?> FixAsync(
        Document document, ImmutableArray<Diagnostic> diagnostics, CancellationToken cancellationToken)
    {
        if (await SourceFile.ReadAsync(document, cancellationToken).ConfigureAwait(false) is not { } source)
        {
            return null;
        }

        TextChange[] changes = diagnostics
            .Select(diagnostic => source.Root.FindNode(diagnostic.Location.SourceSpan, getInnermostNodeForTie: true))
            .Select(call => (Method: TaskMethod.Around(call, source), Call: call))
            .Where(found => found.Method is { } method && ReturnedTask.IsReturnedBy(method, found.Call))
            .Select(found => found.Method!)
            .Distinct()
            .Where(method => AsyncLegality.CanBeAsync(method, source))
            .SelectMany(method => Changes(method, source))
            .Concat(diagnostics.SelectMany(diagnostic => DiscardedTask.Changes(diagnostic, source)))
            .OrderBy(change => change.Span.Start)
            .ToArray();
        return changes.Length > 0 ? document.WithText(source.Text.WithChanges(changes)) : null;
    }

    private static IEnumerable<TextChange> Changes(TaskMethod method, SourceFile source) =>
        method.Returns.SelectMany(statement => AwaitedReturn.Changes(statement, method, source))
            .Prepend(new TextChange(new TextSpan(method.AsyncPosition, 0), "async "));
}
