namespace Allocator.Analyzers.Symbols;

/// <summary>
/// The types that the rules are about, resolved once for a compilation, and what a type says about the lifetime of its values.
/// </summary>
internal sealed class KnownTypes
{
    private const int DeepestStruct = 16;

    private readonly INamedTypeSymbol? _memory;
    private readonly INamedTypeSymbol? _readOnlyMemory;
    private readonly INamedTypeSymbol? _arraySegment;
    private readonly INamedTypeSymbol? _memoryHandle;
    private readonly INamedTypeSymbol? _sequence;
    private readonly INamedTypeSymbol? _stream;
    private readonly INamedTypeSymbol? _memoryStream;
    private readonly INamedTypeSymbol? _unmanagedMemoryStream;
    private readonly INamedTypeSymbol? _task;
    private readonly INamedTypeSymbol? _taskOfResult;
    private readonly INamedTypeSymbol? _valueTask;
    private readonly INamedTypeSymbol? _valueTaskOfResult;

    private KnownTypes(Compilation compilation, INamedTypeSymbol allocator, INamedTypeSymbol memoryOwner, INamedTypeSymbol ownedBuffer)
    {
        Allocator = allocator;
        MemoryOwner = memoryOwner;
        OwnedBuffer = ownedBuffer;
        Borrowed = compilation.GetTypeByMetadataName(KnownNames.BorrowedAttribute);
        _memory = compilation.GetTypeByMetadataName(KnownNames.Memory);
        _readOnlyMemory = compilation.GetTypeByMetadataName(KnownNames.ReadOnlyMemory);
        _arraySegment = compilation.GetTypeByMetadataName(KnownNames.ArraySegment);
        _memoryHandle = compilation.GetTypeByMetadataName(KnownNames.MemoryHandle);
        _sequence = compilation.GetTypeByMetadataName(KnownNames.Sequence);
        _stream = compilation.GetTypeByMetadataName(KnownNames.Stream);
        _memoryStream = compilation.GetTypeByMetadataName(KnownNames.MemoryStream);
        _unmanagedMemoryStream = compilation.GetTypeByMetadataName(KnownNames.UnmanagedMemoryStream);
        _task = compilation.GetTypeByMetadataName(KnownNames.Task);
        _taskOfResult = compilation.GetTypeByMetadataName(KnownNames.TaskOfResult);
        _valueTask = compilation.GetTypeByMetadataName(KnownNames.ValueTask);
        _valueTaskOfResult = compilation.GetTypeByMetadataName(KnownNames.ValueTaskOfResult);
    }

    public INamedTypeSymbol Allocator { get; }

    public INamedTypeSymbol MemoryOwner { get; }

    public INamedTypeSymbol OwnedBuffer { get; }

    public INamedTypeSymbol? Borrowed { get; }

    /// <summary>Resolves the types.</summary>
    /// <returns>Null if the compilation does not reference the allocator.</returns>
    public static KnownTypes? Resolve(Compilation compilation)
    {
        if (compilation.GetTypeByMetadataName(KnownNames.MemoryAllocator) is { } allocator
            && compilation.GetTypeByMetadataName(KnownNames.MemoryOwner) is { } memoryOwner
            && compilation.GetTypeByMetadataName(KnownNames.OwnedBufferAttribute) is { } ownedBuffer)
        {
            return new KnownTypes(compilation, allocator, memoryOwner, ownedBuffer);
        }

        return null;
    }

    /// <summary>Returns whether values of the type keep the owner reachable, and are not the owner themselves.</summary>
    public bool IsMemory(ITypeSymbol? type) =>
        type is INamedTypeSymbol { OriginalDefinition.SpecialType: SpecialType.System_Nullable_T, TypeArguments: var maybe }
        ? IsMemory(maybe[0])
        : type is not null
            && (Is(type, _memory) || Is(type, _readOnlyMemory) || Is(type, _sequence) || Is(type, _memoryHandle) || IsArraySegment(type)
                || IsPixelView(type));

    /// <summary>Returns whether the type is a part of an array, as a stream of one array shows it.</summary>
    public bool IsArraySegment(ITypeSymbol? type) => type is not null && Is(type, _arraySegment);

    /// <summary>Returns whether the type is one of SkiaSharp that has pixels or shows another object's pixels.</summary>
    public static bool IsOfSkia(ITypeSymbol type) =>
        type is { Name: "SKBitmap" or "SKSurface" or "SKPixmap" or "SKCanvas" or "SKObject" or "SKNativeObject" }
        && type.ContainingNamespace is { Name: "SkiaSharp", ContainingNamespace.IsGlobalNamespace: true };

    public bool IsMemoryHandle(ITypeSymbol? type) => type is not null && Is(type, _memoryHandle);

    /// <summary>Returns whether values of the type are pointers or can have one.</summary>
    public static bool IsRaw(ITypeSymbol? type) => type is IPointerTypeSymbol or { IsRefLikeType: true };

    /// <summary>Returns whether streams of the type are done with a buffer when a call returns, whatever task that gives.</summary>
    public bool IsMemoryStream(ITypeSymbol? type) => DerivesFrom(type, _memoryStream) || DerivesFrom(type, _unmanagedMemoryStream);

    public bool IsStream(ITypeSymbol? type) => DerivesFrom(type, _stream);

    public bool IsDelegate(ITypeSymbol? type) => type is { TypeKind: TypeKind.Delegate };

    /// <summary>Returns whether a value of the type can keep a buffer. Numbers, texts and spans of numbers cannot.</summary>
    public bool CanKeep(ITypeSymbol? type) => CanKeepAt(0, type);

    private bool CanKeepAt(int depth, ITypeSymbol? type) => type switch
    {
        null or IPointerTypeSymbol or IFunctionPointerTypeSymbol => false,
        IArrayTypeSymbol array => CanKeepAt(depth, array.ElementType),
        { SpecialType: SpecialType.System_Object } => true,

        // While code is being typed, structs may contain each other.
        INamedTypeSymbol { IsRefLikeType: true } structure => depth > DeepestStruct || CanKeepOnStack(structure, depth + 1),
        { SpecialType: not SpecialType.None } or { TypeKind: TypeKind.Enum } => IsCollection(type),
        _ => !type.IsUnmanagedType,
    };

    // A span of tasks or of owners, or a ref struct with an owner in a field. Reference assemblies give ref structs other fields.
    private bool CanKeepOnStack(INamedTypeSymbol type, int depth) => type.DeclaringSyntaxReferences.IsEmpty
        ? type.TypeArguments.Any(item => item is not ITypeParameterSymbol && CanKeepAt(depth, item))
        : type.GetMembers().Any(member => member is IFieldSymbol { IsStatic: false } field && CanKeepAt(depth, field.Type));

    /// <summary>
    /// As <see cref="CanKeep"/>, for a value that is computed already: a list of numbers keeps nothing of the buffer that they came from.
    /// A sequence that still computes them does.
    /// </summary>
    public bool CanKeepComplete(ITypeSymbol? type) => type is null
        || CanKeep(type is INamedTypeSymbol { TypeArguments: { Length: 1 } items, ContainingNamespace.ContainingNamespace: { } space }
            && space is { Name: "Collections", ContainingNamespace.Name: "System" } ? items[0] : type);

    /// <summary>Returns whether a value of the type can be memory, or a view of it.</summary>
    public bool CanShow(ITypeSymbol? type) => IsRaw(type) || IsMemory(type) || CanKeep(type);

    /// <summary>Returns whether a method returns items that are computed lazily; an item may be of any type.</summary>
    public static bool IsLazy(IMethodSymbol method) => method.OriginalDefinition.ReturnType.Name is var name
        && (name is "IEnumerable" or "IOrderedEnumerable" or "IAsyncEnumerable" or "IOrderedAsyncEnumerable"
                or "IQueryable" or "IOrderedQueryable" || name.EndsWith("Query", StringComparison.Ordinal));

    /// <summary>Returns whether values of the type own memory: what the allocator hands out, and whatever else owns memory.</summary>
    public bool IsBuffer(ITypeSymbol type) => !IsAllocator(type)
        && (IsMemoryOwner(type)
            || (SymbolEqualityComparer.Default.Equals(type.ContainingAssembly, Allocator.ContainingAssembly)
                && type.Name is "PixelBuffer" or "PlanarBuffer" or "MemoryGroup" or "MemoryLease" or "PooledMemoryStream"));

    public bool IsTask(ITypeSymbol? type) =>
        type is not null && (Is(type, _task) || Is(type, _valueTask) || ResultOfTask(type) is not null);

    /// <summary>Returns what a task promises, or null if it is no task with a result.</summary>
    public ITypeSymbol? ResultOfTask(ITypeSymbol type) =>
        type is INamedTypeSymbol named && (Is(named, _taskOfResult) || Is(named, _valueTaskOfResult)) ? named.TypeArguments[0] : null;

    public bool IsMemoryOwner(ITypeSymbol type)
    {
        if (Is(type, MemoryOwner))
        {
            return true;
        }

        foreach (INamedTypeSymbol implemented in type.AllInterfaces)
        {
            if (Is(implemented, MemoryOwner))
            {
                return true;
            }
        }

        return false;
    }

    public bool IsAllocator(ITypeSymbol type) => DerivesFrom(type, Allocator);

    /// <summary>Returns whether the type is a part of an allocator's memory, set apart for one job.</summary>
    public bool IsReservation(ITypeSymbol? type) => type?.Name == "MemoryReservation" && IsAllocator(type);

    /// <summary>Returns whether the type hands out native functions, which still work after its disposal.</summary>
    public bool IsCallbacks(ITypeSymbol type) => type.Name == "NativeAllocationCallbacks"
        && SymbolEqualityComparer.Default.Equals(type.ContainingAssembly, Allocator.ContainingAssembly);

    // `IEnumerable<T>` and the like have special types of their own.
    private static bool IsCollection(ITypeSymbol type) =>
        type is { TypeKind: TypeKind.Interface } || type.SpecialType is SpecialType.System_Delegate or SpecialType.System_Array;

    private static bool DerivesFrom(ITypeSymbol? type, INamedTypeSymbol? definition)
    {
        for (ITypeSymbol? current = type; current is not null; current = current.BaseType)
        {
            if (Is(current, definition))
            {
                return true;
            }
        }

        return false;
    }

    // A pixmap or a canvas shows the pixels of a surface or a bitmap, and does not keep them.
    /// <summary>Returns whether objects of the type show the pixels of a bitmap, and do not keep them.</summary>
    public static bool IsPixelView(ITypeSymbol type) => type.Name is "SKPixmap" or "SKCanvas" && IsOfSkia(type);

    private static bool Is(ITypeSymbol type, INamedTypeSymbol? definition) =>
        definition is not null && SymbolEqualityComparer.Default.Equals(type.OriginalDefinition, definition);
}
