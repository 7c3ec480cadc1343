using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

namespace Allocator.Tests.PublicApi;

/// <summary>A type's name as C# writes it, with the question marks of nullable references.</summary>
internal static class TypeName
{
    private static readonly NullabilityInfoContext s_nullability = new();

    private static readonly Dictionary<Type, string> s_keywords = new()
    {
        [typeof(void)] = "void",
        [typeof(object)] = "object",
        [typeof(string)] = "string",
        [typeof(bool)] = "bool",
        [typeof(byte)] = "byte",
        [typeof(char)] = "char",
        [typeof(short)] = "short",
        [typeof(ushort)] = "ushort",
        [typeof(int)] = "int",
        [typeof(uint)] = "uint",
        [typeof(long)] = "long",
        [typeof(ulong)] = "ulong",
        [typeof(float)] = "float",
        [typeof(double)] = "double",
        [typeof(nint)] = "nint",
        [typeof(nuint)] = "nuint",
    };

    public static string Of(Type type) => Format(type, nullability: null);

    public static string Of(ParameterInfo parameter) => Format(parameter.ParameterType, s_nullability.Create(parameter));

    public static string Of(FieldInfo field) => Format(field.FieldType, s_nullability.Create(field));

    public static string Of(PropertyInfo property) => Format(property.PropertyType, s_nullability.Create(property));

    public static string Of(EventInfo handler) => Format(handler.EventHandlerType!, s_nullability.Create(handler));

    public static string OfReturn(MethodInfo method) => (method.ReturnType.IsByRef ? "ref " : "") + Of(method.ReturnParameter);

    private static string Format(Type type, NullabilityInfo? nullability)
    {
        if (type.IsByRef)
        {
            return Format(type.GetElementType()!, nullability);
        }

        if (Nullable.GetUnderlyingType(type) is { } underlying)
        {
            return Format(underlying, nullability: null) + "?";
        }

        // Of an unconstrained type parameter it cannot be told whether a question mark was written.
        bool canTell = !type.IsValueType && !type.IsGenericParameter;
        string mark = canTell && nullability?.ReadState == NullabilityState.Nullable ? "?" : "";
        return Unmarked(type, nullability) + mark;
    }

    private static string Unmarked(Type type, NullabilityInfo? nullability)
    {
        if (s_keywords.TryGetValue(type, out string? keyword))
        {
            return keyword;
        }

        if (type.IsArray)
        {
            return Format(type.GetElementType()!, nullability?.ElementType) + "[]";
        }

        if (type.IsPointer)
        {
            return Format(type.GetElementType()!, nullability: null) + "*";
        }

        if (!type.IsGenericType)
        {
            return type.Name;
        }

        NullabilityInfo[] inner = nullability?.GenericTypeArguments ?? [];
        IEnumerable<string> arguments = type.GetGenericArguments()
            .Select((argument, index) => Format(argument, index < inner.Length ? inner[index] : null));
        return $"{type.Name.Split('`')[0]}<{string.Join(", ", arguments)}>";
    }
}
