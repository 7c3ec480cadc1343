using System.Reflection;

namespace Allocator.Analyzers.Rules;

/// <summary>The address of the page of a rule.</summary>
internal static class HelpPage
{
    // The build writes it if the sources have a public repository.
    private static readonly string? s_rulesAddress = typeof(HelpPage).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
        .FirstOrDefault(attribute => attribute.Key == "RulesAddress")?.Value;

    /// <summary>Returns the address of a rule's page, or an empty one if the sources have no public repository.</summary>
    public static string AddressOf(string id) => AddressOf(id, s_rulesAddress);

    /// <summary>Returns the same for pages at <paramref name="rulesAddress"/>.</summary>
    public static string AddressOf(string id, string? rulesAddress) => rulesAddress is null ? "" : $"{rulesAddress}{id}.md";
}
