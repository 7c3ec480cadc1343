namespace Allocator.CodeFixes.Using;

/// <summary>Names for new variables. One that is taken is not given again.</summary>
internal sealed class FreeNames
{
    private readonly Dictionary<SyntaxNode, HashSet<string>> _taken = new();

    /// <summary>Returns <paramref name="wish"/>, with a number where the member around <paramref name="node"/> knows that name.</summary>
    public string Take(string wish, SyntaxNode node)
    {
        // In all of the member: no block or function inside may reuse the name, and none outside may be hidden.
        SyntaxNode function = node.Ancestors().First(ancestor => IsMember(ancestor) || ancestor is AccessorDeclarationSyntax);
        if (!_taken.TryGetValue(function, out HashSet<string>? taken))
        {
            taken = new HashSet<string>(Identifiers(function));
            _taken.Add(function, taken);
        }

        string name = wish;
        for (int number = 2; !taken.Add(name); number++)
        {
            name = wish + number;
        }

        return name;
    }

    private static bool IsMember(SyntaxNode node) =>
        node is CompilationUnitSyntax or (MemberDeclarationSyntax and not GlobalStatementSyntax);

    // Of a property or an event without its other accessors, whose names are their own.
    private static IEnumerable<string> Identifiers(SyntaxNode function) => function.AncestorsAndSelf().First(IsMember)
        .DescendantTokens(node => node == function || function is not AccessorDeclarationSyntax || node is not AccessorDeclarationSyntax)
        .Where(token => token.IsKind(SyntaxKind.IdentifierToken)).Select(token => token.ValueText);
}
