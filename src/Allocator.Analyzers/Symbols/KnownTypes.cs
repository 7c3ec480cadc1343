using Microsoft.CodeAnalysis;

namespace Allocator.Analyzers.Symbols;

/// <summary>
/// The types that the rules are about, resolved once for a compilation, and what a type says about the lifetime of its values.
/// </summary>
internal sealed class KnownTypes
{
    private readonly INamedTypeSymbol? _memory;
    private readonly INamedTypeSymbol? _readOnlyMemory;
    private readonly INamedTypeSymbol? _memoryHandle;
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
        _memoryHandle = compilation.GetTypeByMetadataName(KnownNames.MemoryHandle);
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
    /// <returns>Null where the compilation does not reference the allocator.</returns>
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

    /// <summary>Gives whether values of the type keep the owner reachable without being it.</summary>
    public bool IsMemory(ITypeSymbol? type) =>
        type is not null && (Is(type, _memory) || Is(type, _readOnlyMemory) || Is(type, _memoryHandle));

    public bool IsMemoryHandle(ITypeSymbol? type) => type is not null && Is(type, _memoryHandle);

    /// <summary>Gives whether values of the type point into memory that they do not keep.</summary>
    public bool IsRaw(ITypeSymbol? type) => type is IPointerTypeSymbol or { IsRefLikeType: true };

    /// <summary>Gives whether streams of the type are done with a buffer when a call returns, whatever task that gives.</summary>
    public bool IsMemoryStream(ITypeSymbol? type)
    {
        for (ITypeSymbol? current = type; current is not null; current = current.BaseType)
        {
            if (Is(current, _memoryStream) || Is(current, _unmanagedMemoryStream))
            {
                return true;
            }
        }

        return false;
    }

    public bool IsTask(ITypeSymbol? type) =>
        type is not null && (Is(type, _task) || Is(type, _valueTask) || ResultOfTask(type) is not null);

    /// <summary>Gives what a task promises, or null where it is no task with a result.</summary>
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

    public bool IsAllocator(ITypeSymbol type)
    {
        for (ITypeSymbol? current = type; current is not null; current = current.BaseType)
        {
            if (Is(current, Allocator))
            {
                return true;
            }
        }

        return false;
    }

    private static bool Is(ITypeSymbol type, INamedTypeSymbol? definition) =>
        definition is not null && SymbolEqualityComparer.Default.Equals(type.OriginalDefinition, definition);
}
