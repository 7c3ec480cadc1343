using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Allocator.Tests.PublicApi;

/// <summary>A member as C# would declare it, without its body.</summary>
internal static class MemberDeclaration
{
    /// <summary>Whether a user can see the member and it was written: accessors, and what records generate, are left out.</summary>
    public static bool IsListed(MemberInfo member) => member switch
    {
        MethodInfo method => IsVisible(method) && !method.IsDefined(typeof(CompilerGeneratedAttribute)) && !IsOfStream(method)
            && (!method.IsSpecialName || method.Name.StartsWith("op_", StringComparison.Ordinal)),
        ConstructorInfo constructor => IsVisible(constructor) && !constructor.IsStatic,
        PropertyInfo property =>
            property.GetAccessors(nonPublic: true).Any(accessor => IsVisible(accessor) && !IsOfStream(accessor))
                && property.Name != "EqualityContract",
        EventInfo handler => IsVisible(handler.AddMethod!),
        FieldInfo field => field.IsPublic || field.IsFamily || field.IsFamilyOrAssembly,
        _ => false,
    };

    public static string Of(MemberInfo member) => Attributes(member) + member switch
    {
        MethodInfo method => OfMethod(method),
        ConstructorInfo constructor => $"{Access(constructor)} {constructor.DeclaringType!.Name.Split('`')[0]}({Parameters(constructor)})",
        PropertyInfo property => OfProperty(property),
        EventInfo handler => $"{Access(handler.AddMethod!)} {Modifiers(handler.AddMethod!)}event {TypeName.Of(handler)} {handler.Name}",
        FieldInfo field => OfField(field),
        _ => throw new ArgumentOutOfRangeException(nameof(member)),
    };

    // What a stream overrides adds nothing for its users, and which members there are to override differs between targets.
    private static bool IsOfStream(MethodInfo method) =>
        method.GetBaseDefinition() is MethodInfo first && first != method && first.DeclaringType == typeof(Stream);

    public static string Parameters(MethodBase method) => string.Join(", ", method.GetParameters().Select(Parameter));

    public static bool HasAttribute(this MemberInfo member, string name) => Has(member.CustomAttributes, name);

    private static bool Has(IEnumerable<CustomAttributeData> attributes, string name) =>
        attributes.Any(attribute => attribute.AttributeType.Name == name);

    private static bool IsVisible(MethodBase method) => method.IsPublic || method.IsFamily || method.IsFamilyOrAssembly;

    private static string Access(MethodBase method) => method.IsPublic ? "public" : "protected";

    private static string OfMethod(MethodInfo method)
    {
        Type[] generic = method.GetGenericArguments();
        string parameters = generic.Length == 0 ? "" : $"<{string.Join(", ", generic.Select(argument => argument.Name))}>";
        return $"{Access(method)} {Modifiers(method)}{TypeName.OfReturn(method)} {method.Name}{parameters}({Parameters(method)})" +
            TypeDeclaration.Constraints(generic);
    }

    private static string OfProperty(PropertyInfo property)
    {
        MethodInfo first = property.GetAccessors(nonPublic: true)
            .Where(IsVisible)
            .OrderByDescending(accessor => accessor.IsPublic)
            .First();
        string name = property.GetIndexParameters() is { Length: > 0 } indices
            ? $"this[{string.Join(", ", indices.Select(Parameter))}]"
            : property.Name;
        string reference = property.PropertyType.IsByRef ? "ref " : "";
        string accessors = string.Concat(new[] { property.GetMethod, property.SetMethod }.Select(accessor => Accessor(accessor, first)));
        return $"{Access(first)} {Modifiers(first)}{reference}{TypeName.Of(property)} {name} {{ {accessors}}}";
    }

    private static string Accessor(MethodInfo? accessor, MethodInfo first)
    {
        if (accessor is null || !IsVisible(accessor))
        {
            return "";
        }

        bool isInit = accessor.ReturnParameter.GetRequiredCustomModifiers().Any(modifier => modifier.Name == "IsExternalInit");
        string name = accessor.ReturnType != typeof(void) ? "get; " : isInit ? "init; " : "set; ";
        return Access(accessor) == Access(first) ? name : $"{Access(accessor)} {name}";
    }

    private static string OfField(FieldInfo field)
    {
        string access = field.IsPublic ? "public" : "protected";
        return field.IsLiteral
            ? $"{access} const {TypeName.Of(field)} {field.Name} = {Literal(field.GetRawConstantValue(), field.FieldType)}"
            : $"{access} {(field.IsStatic ? "static " : "")}{(field.IsInitOnly ? "readonly " : "")}{TypeName.Of(field)} {field.Name}";
    }

    private static string Modifiers(MethodInfo method)
    {
        if (method.IsStatic)
        {
            return "static ";
        }

        if (method.IsAbstract)
        {
            return "abstract ";
        }

        bool isOverride = method.GetBaseDefinition() != method;
        string polymorphism = isOverride ? (method.IsFinal ? "sealed override " : "override ")
            : method.IsVirtual && !method.IsFinal ? "virtual "
            : "";

        // In a readonly struct every member is: the word is only told where it is written.
        bool isReadOnly = method.DeclaringType!.IsValueType && !method.DeclaringType.HasAttribute("IsReadOnlyAttribute")
            && method.HasAttribute("IsReadOnlyAttribute");
        return polymorphism + (isReadOnly ? "readonly " : "");
    }

    // The attributes that are part of the contract; those that the compiler writes for itself differ between targets.
    private static string Attributes(MemberInfo member)
    {
        IEnumerable<CustomAttributeData> all = member.CustomAttributes;
        if (member is PropertyInfo { GetMethod: { } getter })
        {
            all = all.Concat(getter.CustomAttributes);
        }

        string own = string.Concat(
            from attribute in all
            let name = attribute.AttributeType.Name.Replace("Attribute", "", StringComparison.Ordinal)
            where name is "UnscopedRef" or "Obsolete" or "Experimental"
            select $"[{name}] ");
        bool isOwned = member is MethodInfo method && Has(method.ReturnParameter.CustomAttributes, nameof(OwnedBufferAttribute));
        return own + (isOwned ? "[return: OwnedBuffer] " : "");
    }

    private static string Parameter(ParameterInfo parameter)
    {
        IList<CustomAttributeData> attributes = parameter.GetCustomAttributesData();
        string prefix =
            (Has(attributes, nameof(BorrowedAttribute)) ? "[Borrowed] " : "") +
            (Has(attributes, nameof(OwnedBufferAttribute)) ? "[OwnedBuffer] " : "") +
            (Has(attributes, "ParamArrayAttribute") || Has(attributes, "ParamCollectionAttribute") ? "params " : "") +
            (Has(attributes, "ScopedRefAttribute") ? "scoped " : "") +
            (parameter.IsOut ? "out " : parameter.IsIn ? "in " : parameter.ParameterType.IsByRef ? "ref " : "");
        string value = parameter.HasDefaultValue ? " = " + Literal(parameter.RawDefaultValue, parameter.ParameterType) : "";
        return $"{prefix}{TypeName.Of(parameter)} {parameter.Name}{value}";
    }

    private static string Literal(object? value, Type type) => value switch
    {
        null => type.IsValueType && Nullable.GetUnderlyingType(type) is null ? "default" : "null",
        _ when type.IsEnum => $"{type.Name}.{Enum.ToObject(type, value)}",
        string text => $"\"{text}\"",
        bool flag => flag ? "true" : "false",
        _ => Convert.ToString(value, CultureInfo.InvariantCulture)!,
    };
}
