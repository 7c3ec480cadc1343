namespace Allocator.Analyzers.Summaries;

/// <summary>
/// Where a value comes from on all paths: it is a new owner; a view of one parameter or of the object itself; a value that contradicts
/// neither (null, an empty span, a recursive call); or unknown.
/// </summary>
internal readonly struct Origin
{
    private readonly bool _isUnknown;

    private Origin(ISymbol? source, bool isFresh, bool isUnknown)
    {
        Source = source;
        IsFresh = isFresh;
        _isUnknown = isUnknown;
    }

    public static Origin Any => default;

    public static Origin Unknown => new(null, isFresh: false, isUnknown: true);

    public static Origin Fresh => new(null, isFresh: true, isUnknown: false);

    /// <summary>Gets the parameter, or the type of the object itself.</summary>
    public ISymbol? Source { get; }

    public bool IsFresh { get; }

    public static Origin Of(ISymbol source) => new(source, isFresh: false, isUnknown: false);

    public Origin And(Origin other)
    {
        bool isNothing = Source is null && !IsFresh && !_isUnknown;
        bool isOtherNothing = other.Source is null && !other.IsFresh && !other._isUnknown;
        return isNothing ? other
            : isOtherNothing ? this
            : IsFresh == other.IsFresh && SymbolEqualityComparer.Default.Equals(Source, other.Source) && !other._isUnknown ? this
            : Unknown;
    }
}
