namespace Allocator.CodeFixes.Using;

/// <summary>Names for new variables. One that is taken is not given again.</summary>
internal sealed class FreeNames
{
    private readonly Dictionary<SyntaxNode, HashSet<string>> _taken = new();

    /// <summary>Returns <paramref name="wish"/>, with a number if the member around <paramref name="node"/> knows that name.</summary>
    public string Take(string wish, SyntaxNode node)
    {
        // In the whole member: a block or function inside must not reuse the name, and a name outside must not be hidden.
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

    // For a property or an event, only this accessor: the names of the others are their own.
    private static IEnumerable<string> Identifiers(SyntaxNode function) => function.AncestorsAndSelf().First(IsMember)
        .DescendantTokens(node => node == function || function is not AccessorDeclarationSyntax || node is not AccessorDeclarationSyntax)
        .Where(token => token.IsKind(SyntaxKind.IdentifierToken)).Select(token => token.ValueText);
}
