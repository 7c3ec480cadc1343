using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Reflection;
using System.Text;

namespace Allocator.Tests.PublicApi;

/// <summary>
/// Lists what an assembly shows to the outside, as C# declarations in a fixed order, the same for every target framework.
/// </summary>
internal static class ApiListing
{
    private const BindingFlags Declared =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    public static string Of(Assembly assembly)
    {
        StringBuilder text = new();
        foreach (Type type in assembly.GetExportedTypes().OrderBy(type => type.FullName, StringComparer.Ordinal))
        {
            text.Append(text.Length == 0 ? "" : "\n");
            text.Append(TypeDeclaration.Of(type)).Append('\n');
            foreach (string member in Members(type))
            {
                text.Append("    ").Append(member).Append('\n');
            }
        }

        return text.ToString();
    }

    private static IEnumerable<string> Members(Type type)
    {
        if (typeof(Delegate).IsAssignableFrom(type))
        {
            return [];
        }

        return type.IsEnum
            ? from field in type.GetFields(BindingFlags.Public | BindingFlags.Static)
              let value = Convert.ToInt64(field.GetRawConstantValue(), CultureInfo.InvariantCulture)
              orderby value, field.Name
              select $"{field.Name} = {value}"
            : from member in type.GetMembers(Declared)
              where MemberDeclaration.IsListed(member)
              let text = MemberDeclaration.Of(member)
              orderby member.MemberType, member.Name, text
              select text;
    }
}
