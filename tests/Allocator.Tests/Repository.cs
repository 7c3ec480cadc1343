using System.Reflection;
using System.Xml.Linq;

namespace Allocator.Tests;

/// <summary>Where the repository stands that the tests were built from, for those that read its files.</summary>
internal static class Repository
{
    /// <summary>What the SDK writes for a console project with ImplicitUsings.</summary>
    public const string ImplicitUsings =
        """
        global using System;
        global using System.Collections.Generic;
        global using System.IO;
        global using System.Linq;
        global using System.Net.Http;
        global using System.Threading;
        global using System.Threading.Tasks;

        """;

    public static string Root { get; } = typeof(Repository).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
        .Single(metadata => metadata.Key == "RepositoryRoot").Value!;

    public static string PathTo(params string[] parts) => Path.Combine([Root, .. parts]);

    /// <summary>Returns what the SDK writes for a project: the implicit ones, and those that the project's file names.</summary>
    public static string GlobalUsings(params string[] project) =>
        ImplicitUsings + string.Concat(
            from item in XDocument.Load(PathTo(project)).Descendants("Using")
            let kind = item.Attribute("Static") is null ? "" : "static "
            select $"global using {kind}{item.Attribute("Include")!.Value};\n");
}
