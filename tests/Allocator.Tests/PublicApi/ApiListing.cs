using System.Reflection;
using Allocator.Tests.Documentation;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Tests.PublicApi;

/// <summary>
/// Lists what an assembly shows to the outside, as C# declarations in a fixed order, the same for every target framework. The compiler
/// writes the declarations.
/// </summary>
internal static class ApiListing
{
    private static readonly SymbolDisplayFormat s_plain = new(
        typeQualificationStyle: SymbolDisplayTypeQualificationStyle.NameAndContainingTypes,
        genericsOptions: SymbolDisplayGenericsOptions.IncludeTypeParameters,
        memberOptions: SymbolDisplayMemberOptions.IncludeType | SymbolDisplayMemberOptions.IncludeModifiers
            | SymbolDisplayMemberOptions.IncludeAccessibility | SymbolDisplayMemberOptions.IncludeConstantValue
            | SymbolDisplayMemberOptions.IncludeRef,
        parameterOptions: SymbolDisplayParameterOptions.IncludeType | SymbolDisplayParameterOptions.IncludeName
            | SymbolDisplayParameterOptions.IncludeDefaultValue | SymbolDisplayParameterOptions.IncludeModifiers,
        propertyStyle: SymbolDisplayPropertyStyle.ShowReadWriteDescriptor,
        kindOptions: SymbolDisplayKindOptions.IncludeMemberKeyword,
        miscellaneousOptions: SymbolDisplayMiscellaneousOptions.UseSpecialTypes
            | SymbolDisplayMiscellaneousOptions.IncludeNullableReferenceTypeModifier
            | SymbolDisplayMiscellaneousOptions.AllowDefaultLiteral);

    private static readonly SymbolDisplayFormat s_constrained =
        s_plain.AddGenericsOptions(SymbolDisplayGenericsOptions.IncludeTypeConstraints);

    public static string Of(Assembly assembly)
    {
        CSharpCompilation compilation = CSharpCompilation.Create("Api", references: ExampleCompiler.References());
        ISymbol library = compilation.References.Where(reference => reference.Display == assembly.Location)
            .Select(compilation.GetAssemblyOrModuleSymbol).Single()!;
        return string.Join('\n', TypesOf(((IAssemblySymbol)library).GlobalNamespace)
            .OrderBy(NameOf, StringComparer.Ordinal)
            .Select(type => string.Concat([$"{Head(type)}\n", .. Members(type).Select(member => $"    {member}\n")])));
    }

    private static IEnumerable<INamedTypeSymbol> TypesOf(INamespaceOrTypeSymbol container) => container.GetMembers()
        .OfType<INamespaceOrTypeSymbol>()
        .SelectMany(inner => inner is INamedTypeSymbol type
            ? type.DeclaredAccessibility == Accessibility.Public ? TypesOf(type).Prepend(type) : []
            : TypesOf(inner));

    private static string NameOf(INamedTypeSymbol type) => $"{type.ContainingNamespace}.{type.MetadataName}";

    private static IEnumerable<string> Members(INamedTypeSymbol type) => type.TypeKind switch
    {
        TypeKind.Delegate => [],
        TypeKind.Enum => from field in type.GetMembers().OfType<IFieldSymbol>()
                         let value = Convert.ToInt64(field.ConstantValue)
                         orderby value, field.Name
                         select $"{field.Name} = {value}",
        _ => from member in type.GetMembers()
             where IsListed(member)
             let text = Attributes(member) + Declaration(member)
             orderby Order(member), member.MetadataName, text
             select text,
    };

    // Accessors, finalizers, and what records generate, are left out. So is what a stream overrides: it adds nothing for its users, and
    // which members there are to override differs between targets.
    private static bool IsListed(ISymbol member) =>
        member.DeclaredAccessibility is Accessibility.Public or Accessibility.Protected or Accessibility.ProtectedOrInternal
        && !IsGenerated(member)
        && member switch
        {
            INamedTypeSymbol => false,
            IMethodSymbol { AssociatedSymbol: not null } or IMethodSymbol { MethodKind: MethodKind.Destructor } => false,
            IMethodSymbol { MethodKind: MethodKind.Constructor, Parameters.IsEmpty: true } => !member.ContainingType.IsValueType,
            IMethodSymbol method => method.OverriddenMethod?.ContainingType.Name != "Stream",
            IPropertySymbol property => property.OverriddenProperty?.ContainingType.Name != "Stream"
                && property.Name != "EqualityContract",
            _ => true,
        };

    private static bool IsGenerated(ISymbol member) => member.GetAttributes().Any(attribute => Name(attribute) == "CompilerGenerated");

    private static int Order(ISymbol member) => member switch
    {
        IMethodSymbol { MethodKind: MethodKind.Constructor } => 0,
        IEventSymbol => 1,
        IFieldSymbol => 2,
        IMethodSymbol => 3,
        _ => 4,
    };

    private static string Declaration(ISymbol member)
    {
        string access = member.ContainingType.TypeKind == TypeKind.Interface ? "public abstract " : "";
        return access + (member is IMethodSymbol method
            ? $"{method.ToDisplayString(s_plain)}({Parameters(method)}){Constraints(method)}"
            : member.ToDisplayString(s_plain.AddMemberOptions(SymbolDisplayMemberOptions.IncludeParameters)));
    }

    private static string Parameters(IMethodSymbol method) =>
        string.Join(", ", method.Parameters.Select(parameter => Attributes(parameter)
            + parameter.ToDisplayString(s_plain.AddMemberOptions(SymbolDisplayMemberOptions.IncludeContainingType))));

    private static string Constraints(ISymbol symbol) =>
        symbol.ToDisplayString(s_constrained)[symbol.ToDisplayString(s_plain).Length..];

    // The attributes that are part of the contract; those that the compiler writes for itself differ between targets.
    private static string Attributes(ISymbol symbol)
    {
        IEnumerable<AttributeData> all = symbol.GetAttributes();
        string own = string.Concat(
            from attribute in symbol is IPropertySymbol { GetMethod: { } getter } ? all.Concat(getter.GetAttributes()) : all
            where Name(attribute) is "UnscopedRef" or "Obsolete" or "Experimental" or "Borrowed" or "OwnedBuffer" or "Flags"
            select $"[{Name(attribute)}] ");
        string usage = string.Concat(
            from attribute in all
            where Name(attribute) == "AttributeUsage"
            select $"[AttributeUsage({(AttributeTargets)attribute.ConstructorArguments[0].Value!})] ");
        bool isOwned = symbol is IMethodSymbol method && method.GetReturnTypeAttributes().Any(returned => Name(returned) == "OwnedBuffer");
        return own + usage + (isOwned ? "[return: OwnedBuffer] " : "");
    }

    private static string Name(AttributeData attribute) =>
        attribute.AttributeClass!.Name[..^nameof(Attribute).Length];

    private static string Head(INamedTypeSymbol type)
    {
        if (type.DelegateInvokeMethod is { } invoke)
        {
            string result = invoke.ReturnType.ToDisplayString(s_plain);
            return $"public delegate {result} {type.ToDisplayString(s_plain)}({Parameters(invoke)}){Constraints(type)}";
        }

        string record = type.GetMembers("Equals").Any(IsGenerated) ? "record " : "";
        string keyword = type switch
        {
            { TypeKind: TypeKind.Enum } => "enum",
            { TypeKind: TypeKind.Interface } => "interface",
            { IsValueType: true } => $"{(type.IsReadOnly ? "readonly " : "")}{(type.IsRefLikeType ? "ref " : "")}{record}struct",
            { IsStatic: true } => "static class",
            _ => $"{(type.IsAbstract ? "abstract " : type.IsSealed ? "sealed " : "")}{record}class",
        };
        string name = $"{type.ContainingNamespace}.{type.ToDisplayString(s_plain)}";
        return $"{Attributes(type)}public {keyword} {name}{Bases(type)}{Constraints(type)}";
    }

    // Only what the declaration adds for a user: neither what a base has already, nor what another listed interface brings with it, nor
    // interfaces of the library's own.
    private static string Bases(INamedTypeSymbol type)
    {
        IEnumerable<INamedTypeSymbol> inherited =
            (type.BaseType?.AllInterfaces ?? []).Concat(type.AllInterfaces.SelectMany(other => other.AllInterfaces));
        IEnumerable<ITypeSymbol> bases = type.AllInterfaces.Except(inherited, SymbolEqualityComparer.Default).Cast<ITypeSymbol>()
            .Where(other => other.DeclaredAccessibility == Accessibility.Public)
            .OrderBy(other => other.ToDisplayString(s_plain), StringComparer.Ordinal);
        ITypeSymbol? first = type.EnumUnderlyingType
            ?? (type.BaseType is { SpecialType: SpecialType.None } parent ? parent : null);
        string list = string.Join(", ", (type.TypeKind == TypeKind.Enum ? [first!] : first is null ? bases : bases.Prepend(first))
            .Select(one => one.ToDisplayString(s_plain)));
        return list.Length == 0 ? "" : " : " + list;
    }
}
