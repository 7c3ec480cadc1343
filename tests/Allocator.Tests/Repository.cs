using System.Reflection;

namespace Allocator.Tests;

/// <summary>Where the repository stands that the tests were built from, for those that read its files.</summary>
internal static class Repository
{
    public static string Root { get; } = typeof(Repository).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
        .Single(metadata => metadata.Key == "RepositoryRoot").Value!;

    public static string PathTo(params string[] parts) => Path.Combine([Root, .. parts]);
}
