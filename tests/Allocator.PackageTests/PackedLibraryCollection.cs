namespace Allocator.PackageTests;

/// <summary>Lets the test classes share one packing.</summary>
[CollectionDefinition(nameof(PackedLibrary))]
public class PackedLibraryCollection : ICollectionFixture<PackedLibrary>
{
}
