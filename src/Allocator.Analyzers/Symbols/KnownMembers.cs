namespace Allocator.Analyzers.Symbols;

/// <summary>The members that are known to keep nothing beyond their result. All others may do anything.</summary>
internal sealed class KnownMembers
{
    // These compute where memory is, and read none of it.
    private static readonly HashSet<string> s_views = new(StringComparer.Ordinal)
    {
        "Slice", "AsSpan", "AsBytes", "AsMemory", "Cast", "GetReference", "GetPinnableReference", "GetEnumerator", "CreateSpan",
        "CreateReadOnlySpan", "Add", "Subtract", "AddByteOffset", "SubtractByteOffset", "As", "AsPointer", "AsRef", "MoveNext", "Pin",
        "op_Implicit", "Overlaps", "AreSame", "ByteOffset", "IsAddressLessThan", "IsAddressGreaterThan", "IsNullRef",
    };

    private static readonly HashSet<string> s_copies =
        new(StringComparer.Ordinal) { "ToArray", "ToString", "CopyTo", "TryCopyTo", "Equals", "GetHashCode" };

    private readonly KnownTypes _types;

    public KnownMembers(KnownTypes types) => _types = types;

    /// <summary>
    /// Returns whether the member belongs to the base library or the allocator's public API, or implements
    /// <c>IMemoryOwner&lt;T&gt;</c>.
    /// </summary>
    public bool IsKnown(ISymbol member) =>
        member is not IMethodSymbol { MethodKind: MethodKind.DelegateInvoke }
        && (IsOfBaseLibrary(member) || IsOfAllocator(member) || IsOfMemoryOwner(member) || IsOfBitmap(member));

    public bool IsOfBaseLibrary(ISymbol member)
    {
        INamespaceSymbol? space = member.ContainingNamespace;
        while (space is { IsGlobalNamespace: false, ContainingNamespace.IsGlobalNamespace: false })
        {
            space = space.ContainingNamespace;
        }

        return space?.Name == nameof(System);
    }

    /// <summary>
    /// Returns whether the member is public API of the allocator. When the allocator itself is compiled, its internals are ordinary code.
    /// </summary>
    public bool IsOfAllocator(ISymbol member) =>
        member is { DeclaredAccessibility: Accessibility.Public, ContainingType.DeclaredAccessibility: Accessibility.Public }
        && SymbolEqualityComparer.Default.Equals(member.ContainingAssembly, _types.Allocator.ContainingAssembly)
        && member.ContainingNamespace.Name == _types.Allocator.ContainingNamespace.Name;

    /// <summary>Returns whether the method computes a view without touching the memory.</summary>
    public bool IsView(IMethodSymbol method) => s_views.Contains(method.Name);

    /// <summary>Returns whether the method hands out copies only.</summary>
    public bool IsCopy(IMethodSymbol method) =>
        s_copies.Contains(method.Name) || method.ContainingType.SpecialType == SpecialType.System_Object;

    /// <summary>Returns whether the method only describes or compares an object, which is allowed after its disposal.</summary>
    public bool IsIdentity(IMethodSymbol method) =>
        method.ContainingType.SpecialType == SpecialType.System_Object
        || (method is { Name: nameof(ToString), Parameters.Length: 0 } && method.ContainingType.IsReferenceType)
        || (method.Name is nameof(Equals) or nameof(GetHashCode) && _types.IsMemory(method.ContainingType));

    /// <summary>Returns whether the method looks at references only.</summary>
    public bool IsReferenceOnly(IMethodSymbol method) =>
        method.Name is nameof(GC.KeepAlive) or nameof(ReferenceEquals) or "ThrowIfNull" && IsOfBaseLibrary(method);

    public bool IsDispose(IMethodSymbol method) =>
        method is { Name: nameof(IDisposable.Dispose) or "DisposeAsync", Parameters.Length: 0, IsStatic: false }
        || (method is { Name: "Close", Parameters.Length: 0, IsStatic: false } && _types.IsStream(method.ContainingType));

    /// <summary>Returns whether a new object of the base library uses the stream that it is given, and does not dispose it.</summary>
    public bool LeavesOpen(IObjectCreationOperation creation)
    {
        foreach (IArgumentOperation argument in creation.Arguments)
        {
            if (argument is { Parameter.Name: "leaveOpen", Value.ConstantValue: { HasValue: true, Value: true } })
            {
                return creation.Constructor is { } constructor && IsOfBaseLibrary(constructor);
            }
        }

        return false;
    }

    /// <summary>Returns whether the method hands the buffer's memory to its result: the buffer counts as disposed from then on.</summary>
    public bool IsHandOff(IMethodSymbol method) =>
        method is { Name: "HandOff", Parameters.Length: 0, IsStatic: false } && IsOfAllocator(method);

    /// <summary>Returns whether the method returns a part of the buffer as an object that ends with it, and need not be disposed.</summary>
    public bool IsPart(IMethodSymbol method) => method.Name == "GetPlane" && IsOfAllocator(method);

    /// <summary>Returns whether the property lets native code release memory: code that reads it leaves the disposal to that.</summary>
    public bool IsReleaseContext(IPropertySymbol property) => property.Name == "ReleaseContext" && IsOfAllocator(property);

    /// <summary>Returns whether the property is a number that throws after the disposal: an address, a length, a position.</summary>
    public bool ThrowsOnceDisposed(IPropertySymbol property) => IsOfAllocator(property)
        && (property.Name == "Pointer"
            || property is { Name: "Length" or "Position", ContainingType.Name: "PooledMemoryStream" });

    public bool IsBorrowed(IParameterSymbol? parameter) =>
        parameter is not null && _types.Borrowed is not null
        && (Attributes.Contain(parameter.OriginalDefinition.GetAttributes(), _types.Borrowed) || IsBorrowedInBase(parameter));

    private static bool IsMemberOf(ISymbol member, string name) =>
        member is IPropertySymbol { Parameters.Length: 0, IsStatic: false } && member.Name == name;

    private bool IsBorrowedInBase(IParameterSymbol parameter)
    {
        IMethodSymbol? overridden = (parameter.ContainingSymbol as IMethodSymbol)?.OriginalDefinition.OverriddenMethod;
        return overridden is not null && IsBorrowed(overridden.OriginalDefinition.Parameters[parameter.Ordinal]);
    }

    // The types of the package Allocator.SkiaSharp that its factories return, and those that show their pixels.
    private static bool IsOfBitmap(ISymbol member) =>
        !member.IsStatic && member.ContainingType is { } type && (KnownTypes.IsOfSkia(type)
            || type is { Name: "PooledBitmap", ContainingNamespace: { Name: "Allocator", ContainingNamespace.IsGlobalNamespace: true } });

    private bool IsOfMemoryOwner(ISymbol member) =>
        member.ContainingType is { } type
        && (IsMemberOf(member, "Memory") || IsMemberOf(member, "Span"))
        && _types.IsMemoryOwner(type);
}
