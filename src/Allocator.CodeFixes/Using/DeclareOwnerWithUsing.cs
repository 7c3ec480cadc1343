using System.Collections.Immutable;
using Allocator.Analyzers.Rules;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;

namespace Allocator.CodeFixes.Using;

/// <summary>Declares the owner with <c>using</c>; an owner that no variable holds gets one first.</summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(DeclareOwnerWithUsing))]
public sealed class DeclareOwnerWithUsing : CodeFixProvider
{
    private const string Title = "Declare the owner with 'using'";

    // Two hoisted owners in one method need two names. Fixes that are made one by one and then merged would choose the same.
    private static readonly FixAllProvider s_fixAll = FixAllProvider.Create(
        static (context, document, diagnostics) => FixAsync(document, diagnostics, context.CancellationToken));

    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds { get; } =
        ImmutableArray.Create(RuleIds.Finalizable, RuleIds.NeverDisposed);

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
                // One key for both forms, so that "fix all" fixes all.
                context.RegisterCodeFix(
                    CodeAction.Create(Title, _ => Task.FromResult(changed), nameof(DeclareOwnerWithUsing)), diagnostic);
            }
        }
    }

    private static async Task<Document?> FixAsync(
        Document document, ImmutableArray<Diagnostic> diagnostics, CancellationToken cancellationToken)
    {
        SourceFile? source = await SourceFile.ReadAsync(document, cancellationToken).ConfigureAwait(false);
        if (source is not { Language: >= LanguageVersion.CSharp8 })
        {
            return null;
        }

        // In the order of the source, and so are the names.
        OwnerDeclarations declarations = new(source);
        foreach (Diagnostic diagnostic in diagnostics.OrderBy(diagnostic => AllocatedOwner.Site(diagnostic).SourceSpan.Start))
        {
            declarations.Add(diagnostic);
        }

        return declarations.IsEmpty ? null : document.WithText(declarations.ChangedText());
    }
}
