namespace Allocator.Analyzers.Tests.Testing;

/// <summary>What a snippet is compiled against: the base library of the running process, with the allocator or without.</summary>
public static class SnippetReferences
{
    /// <summary>Gets the base library alone, as a consumer that does not know the allocator sees it.</summary>
    public static ImmutableArray<MetadataReference> BaseLibrary { get; } =
    [
        .. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!)
            .Split(Path.PathSeparator)
            .Where(path => Path.GetDirectoryName(path) == Path.GetDirectoryName(typeof(object).Assembly.Location))
            .Select(path => MetadataReference.CreateFromFile(path)),
    ];

    /// <summary>Gets the base library and the real <c>Allocator.dll</c>.</summary>
    public static ImmutableArray<MetadataReference> WithAllocator { get; } =
        BaseLibrary.Add(MetadataReference.CreateFromFile(typeof(MemoryAllocator).Assembly.Location));
}
