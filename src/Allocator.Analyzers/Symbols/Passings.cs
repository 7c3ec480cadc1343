using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Summaries;

namespace Allocator.Analyzers.Symbols;

/// <summary>Decides what a call does with its arguments: for libraries by what is known of them, otherwise by the source.</summary>
internal sealed class Passings
{
    // These methods run a lambda before they return.
    private static readonly HashSet<string> s_runAtOnce = new(StringComparer.Ordinal)
    {
        "Array", "List", "Parallel", "String", "Enumerable", "ParallelEnumerable", "Span", "MemoryExtensions",
    };

    private static readonly HashSet<string> s_runAsTask =
        new(StringComparer.Ordinal) { "Run", "StartNew", "ForEachAsync", "ForAsync", "ContinueWith" };

    private static readonly HashSet<string> s_readMemory =
        new(StringComparer.Ordinal) { "MemoryMarshal", "MemoryExtensions", "BuffersExtensions", "EncodingExtensions" };

    private readonly KnownSymbols _known;

    public Passings(KnownSymbols known) => _known = known;

    /// <summary>Returns what a call does with an argument.</summary>
    public Passing Of(IInvocationOperation call, IArgumentOperation argument)
    {
        Passing known = OfKnown(call, argument);
        if (_known.Members.IsKnown(call.TargetMethod) || known == Passing.HeldByTask)
        {
            return known;
        }

        Passing inferred = _known.Summaries.Of(argument.Parameter);
        return inferred == Passing.Escapes ? known : inferred;
    }

    /// <summary>Returns whether a method gives a span that it is handed by reference no other value than a part of that span.</summary>
    public bool IsNarrowed(IParameterSymbol parameter)
    {
        ISymbol definition = SummaryTable.DefinitionOf(parameter);
        return parameter.ContainingSymbol is IMethodSymbol method && !MethodBodies.MayBeOverridden(method)
            && _known.Bodies.Of(method) is { } body && body.Values(definition).All(value => IsPartOf(value, definition))
            && !body.References(definition).Any(reference => reference.Parent is ISimpleAssignmentOperation { IsRef: true });
    }

    private bool IsPartOf(IOperation? value, ISymbol span)
    {
        while (value is not null && !SymbolEqualityComparer.Default.Equals(value.ReferencedVariable(), span))
        {
            value = value switch
            {
                IConversionOperation conversion => conversion.Operand,
                IImplicitIndexerReferenceOperation part => part.Instance,
                IInvocationOperation { TargetMethod.Name: "Slice", Instance: { } whole } call when _known.IsRaw(call.Type) => whole,
                _ => null,
            };
        }

        return value is not null;
    }

    /// <summary>Returns what a call does with an argument, as far as its source is not needed to say it.</summary>
    public Passing OfKnown(IInvocationOperation call, IArgumentOperation argument)
    {
        IMethodSymbol method = call.TargetMethod;
        if (argument.Parameter is not { RefKind: RefKind.None or RefKind.In } parameter)
        {
            return Passing.Escapes;
        }

        if (_known.Members.IsBorrowed(parameter))
        {
            return Passing.Borrowed;
        }

        if (IsForJob(call, argument))
        {
            return OfJob(method.ReturnType);
        }

        if (_known.Members.IsOfAllocator(method))
        {
            return method.Name is "AsStream" or "WrapGroup" or "WrapPixels" ? Passing.Escapes : Passing.Borrowed;
        }

        if (_known.Members.IsOfBaseLibrary(method))
        {
            return _known.Types.IsDelegate(parameter.OriginalDefinition.Type) ? OfDelegate(method) : OfBaseLibrary(call, parameter);
        }

        if (method is { Name: "FromPixels", ContainingType.Name: "SKImage", Parameters.Length: 1 }
            && KnownTypes.IsPixelView(parameter.Type))
        {
            // An image over the pixels, which it does not keep.
            return Passing.Held;
        }

        if (IsWebResult(method))
        {
            // The response is written after the handler has returned.
            return Passing.Held;
        }

        // Invisible code that returns a task uses the memory until the task ends.
        return IsMemory(parameter) && _known.Types.IsTask(method.ReturnType) && _known.Bodies.Of(method) is null
            ? Passing.HeldByTask : Passing.Escapes;
    }

    /// <summary>
    /// Returns whether a function gets a reservation as a mere allocator: it works within it, and cannot know that there is anything to
    /// end.
    /// </summary>
    public bool IsForJob(IInvocationOperation call, IArgumentOperation argument) =>
        call.TargetMethod.MethodKind == MethodKind.DelegateInvoke && _known.Types.IsReservation(argument.Value.Strip().Type)
        && SymbolEqualityComparer.Default.Equals(argument.Parameter?.Type, _known.Types.Allocator);

    private Passing OfJob(ITypeSymbol result) => result.SpecialType == SpecialType.System_Void ? Passing.Escapes
        : _known.Types.IsTask(result) ? Passing.HeldByTask
        : _known.Types.CanKeep(result) ? Passing.Held
        : Passing.Borrowed;

    private static bool HasOut(IMethodSymbol method)
    {
        foreach (IParameterSymbol parameter in method.Parameters)
        {
            if (parameter.RefKind == RefKind.Out)
            {
                return true;
            }
        }

        return false;
    }

    private static bool IsWebResult(IMethodSymbol method) =>
        method is { ContainingType.Name: "Results" or "TypedResults", Name: "Bytes" or "File" or "Stream" or "Json" or "Ok" }
        && method.ContainingNamespace.ToDisplayString() == "Microsoft.AspNetCore.Http";

    private bool IsMemory(IParameterSymbol parameter) => _known.Types.IsMemory(parameter.OriginalDefinition.Type);

    private Passing OfDelegate(IMethodSymbol method)
    {
        string type = method.ContainingType.Name;
        if (type is "Task" or "TaskFactory" or "Parallel" && s_runAsTask.Contains(method.Name) && _known.Types.IsTask(method.ReturnType))
        {
            return Passing.HeldByTask;
        }

        return type == "ThreadPool" && method.Name is "QueueUserWorkItem" or "UnsafeQueueUserWorkItem" ? Passing.HeldByTask
            : !s_runAtOnce.Contains(type) ? Passing.Escapes
            : type.EndsWith("Enumerable", StringComparison.Ordinal) && KnownTypes.IsLazy(method) ? Passing.Held
            : Passing.Borrowed;
    }

    private Passing OfBaseLibrary(IInvocationOperation call, IParameterSymbol parameter)
    {
        IMethodSymbol method = call.TargetMethod;
        ITypeSymbol result = method.ReturnType;
        if (IsMemory(parameter))
        {
            return HasOut(method) ? Passing.Escapes
                : _known.IsRaw(result) || _known.Types.IsMemory(result) ? Passing.Returned
                : _known.Types.IsTask(result) ? (_known.Types.IsMemoryStream(call.Instance?.Type) ? Passing.Borrowed : Passing.HeldByTask)
                : _known.Types.IsMemory(method.ContainingType) || s_readMemory.Contains(method.ContainingType.Name) ? Passing.Borrowed
                : Passing.Escapes;
        }

        return method switch
        {
            { ContainingType.Name: "Task", Name: "WhenAll" or "WhenAny" } =>
                call.Arguments[0].Value.Strip() is IInvocationOperation { TargetMethod: { ContainingType.Name: "Enumerable" } query }
                    && KnownTypes.IsLazy(query) ? Passing.HeldByTask : Passing.Held,
            { ContainingType.Name: "KeyValuePair" or "Tuple" or "ValueTuple", Name: "Create" } => Passing.Held,
            { ContainingType.Name: "HttpClient" } when parameter.Type.Name == "HttpContent" && _known.Types.IsTask(result) =>
                Passing.HeldByTask,
            { ContainingType.Name: "Task", Name: "WaitAll" or "WaitAny" } => Passing.Borrowed,
            { ContainingType.Name: "Task" or "ValueTask", Name: "FromResult" } => Passing.Held,
            { ContainingType.Name: "Parallel" or "ThreadPool", Name: "Invoke" } => Passing.Borrowed,
            { ContainingType.Name: "BuffersExtensions" } => _known.Types.CanKeep(result) ? Passing.Escapes : Passing.Borrowed,
            { ContainingType.Name: "Enumerable" } => KnownTypes.IsLazy(method) ? Passing.Held
                : _known.Types.CanKeepComplete(result) ? Passing.Escapes : Passing.Borrowed,
            _ when _known.Types.IsStream(parameter.Type) && !HasOut(method) =>
                _known.Types.IsTask(result) ? Passing.HeldByTask : _known.Types.CanKeep(result) ? Passing.Escapes : Passing.Borrowed,
            _ => Passing.Escapes,
        };
    }
}
