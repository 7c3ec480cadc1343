using System.Collections.Concurrent;
using Allocator.Analyzers.Symbols;

namespace Allocator.Analyzers.Summaries;

/// <summary>
/// Where the results of methods, the values of variables and the buffers of objects come from; each is examined once. An answer depends
/// only on the source, not on who asked first.
/// </summary>
internal sealed class OriginTable
{
    private readonly KnownSymbols _known;

    public OriginTable(KnownSymbols known) => _known = known;

    /// <summary>Gets what is known of factories.</summary>
    public ConcurrentDictionary<(ISymbol Symbol, ISymbol Method, Asked About), Origin> Fresh { get; } = new();

    /// <summary>Gets what is known of methods that return a view of what they are given.</summary>
    public ConcurrentDictionary<(ISymbol Symbol, ISymbol Method, Asked About), Origin> Views { get; } = new();

    /// <summary>Returns whether all that a method returns is a new owner.</summary>
    public bool IsFactory(IMethodSymbol method) => new ResultOrigin(_known, looksForFresh: true).OfMethod(method).IsFresh;

    /// <summary>Returns whether a constructor certainly makes an owner for the new object, and hands it to nothing else.</summary>
    public bool Makes(IMethodSymbol constructor) => new ResultOrigin(_known, looksForFresh: true).IsMadeBy(constructor);

    /// <summary>Returns whether a method certainly makes an owner for its own object.</summary>
    public bool Fills(IMethodSymbol method) => new ResultOrigin(_known, looksForFresh: true).IsFilledBy(method);

    /// <summary>Returns whether a method may make an owner for its own object.</summary>
    public bool MayFill(IMethodSymbol method) => new ResultOrigin(_known, looksForFresh: true).MayFill(method);

    /// <summary>Returns which part of a tuple that a method returns is a new owner, or -1.</summary>
    public int FreshItem(IMethodSymbol method) => new ResultOrigin(_known, looksForFresh: true).FreshItem(method);

    /// <summary>Returns whether all that a lambda returns is a new owner.</summary>
    public bool IsFactory(IAnonymousFunctionOperation lambda) => new ResultOrigin(_known, looksForFresh: true).IsMadeBy(lambda);

    /// <summary>Returns whether all that a method hands out by a parameter is a new owner.</summary>
    public bool IsHandedOut(IParameterSymbol parameter) => new ResultOrigin(_known, looksForFresh: true).IsHandedOut(parameter);

    /// <summary>Returns the parameter whose memory a method returns on all paths, or the type of the object itself, or null.</summary>
    public ISymbol? ViewedBy(IMethodSymbol method) => new ResultOrigin(_known, looksForFresh: false).OfMethod(method).Source;
}
