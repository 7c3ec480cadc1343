using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

namespace Allocator.Tests.PublicApi;

/// <summary>The head of a type as C# would declare it.</summary>
internal static class TypeDeclaration
{
    public static string Of(Type type)
    {
        if (typeof(Delegate).IsAssignableFrom(type))
        {
            MethodInfo invoke = type.GetMethod("Invoke")!;
            return $"public delegate {TypeName.OfReturn(invoke)} "
                + $"{Name(type)}({MemberDeclaration.Parameters(invoke)}){Constraints(type.GetGenericArguments())}";
        }

        string attributes = type.IsDefined(typeof(FlagsAttribute)) ? "[Flags] " : "";
        string usage = type.GetCustomAttribute<AttributeUsageAttribute>(inherit: false) is { } targets
            ? $"[AttributeUsage({targets.ValidOn})] "
            : "";
        return $"{attributes}{usage}public {Keyword(type)} {FullName(type)}{Bases(type)}{Constraints(type.GetGenericArguments())}";
    }

    public static string Constraints(Type[] parameters) => string.Concat(
        from parameter in parameters
        let constraints = string.Join(", ", ConstraintsOf(parameter))
        where constraints.Length > 0
        select $" where {parameter.Name} : {constraints}");

    private static IEnumerable<string> ConstraintsOf(Type parameter)
    {
        GenericParameterAttributes attributes = parameter.GenericParameterAttributes;
        bool isStruct = attributes.HasFlag(GenericParameterAttributes.NotNullableValueTypeConstraint);
        if (isStruct)
        {
            yield return parameter.HasAttribute("IsUnmanagedAttribute") ? "unmanaged" : "struct";
        }

        if (attributes.HasFlag(GenericParameterAttributes.ReferenceTypeConstraint))
        {
            yield return "class";
        }

        foreach (Type constraint in parameter.GetGenericParameterConstraints().Where(constraint => constraint != typeof(ValueType)))
        {
            yield return TypeName.Of(constraint);
        }

        if (!isStruct && attributes.HasFlag(GenericParameterAttributes.DefaultConstructorConstraint))
        {
            yield return "new()";
        }
    }

    private static string Keyword(Type type)
    {
        if (type.IsEnum)
        {
            return "enum";
        }

        if (type.IsInterface)
        {
            return "interface";
        }

        bool isRecord = type.GetMethod(
            "PrintMembers", BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.DeclaredOnly) is not null;
        string record = isRecord ? "record " : "";
        if (type.IsValueType)
        {
            return (type.HasAttribute("IsReadOnlyAttribute") ? "readonly " : "") + (type.IsByRefLike ? "ref " : "") + record + "struct";
        }

        string modifier = type switch
        {
            { IsAbstract: true, IsSealed: true } => "static ",
            { IsAbstract: true } => "abstract ",
            { IsSealed: true } => "sealed ",
            _ => "",
        };
        return modifier + record + "class";
    }

    private static string FullName(Type type) => $"{type.Namespace}.{Name(type)}";

    private static string Name(Type type)
    {
        string outer = type.DeclaringType is { } declaring ? Name(declaring) + "." : "";
        string own = type.Name.Split('`')[0];
        return outer + own + (type.IsGenericType
            ? $"<{string.Join(", ", type.GetGenericArguments().Select(argument => argument.Name))}>"
            : "");
    }

    // Only what the declaration adds: neither what a base has already nor what another listed interface brings with it.
    private static string Bases(Type type)
    {
        if (type.IsEnum)
        {
            return $" : {TypeName.Of(Enum.GetUnderlyingType(type))}";
        }

        Type[] all = type.GetInterfaces();
        IEnumerable<Type> inherited = (type.BaseType?.GetInterfaces() ?? []).Concat(all.SelectMany(other => other.GetInterfaces()));
        IEnumerable<string> interfaces = all.Except(inherited).Select(TypeName.Of).Order(StringComparer.Ordinal);
        IEnumerable<string> bases = type.BaseType is { } parent && parent != typeof(object) && parent != typeof(ValueType)
            ? interfaces.Prepend(TypeName.Of(parent))
            : interfaces;
        string list = string.Join(", ", bases);
        return list.Length == 0 ? "" : " : " + list;
    }
}
