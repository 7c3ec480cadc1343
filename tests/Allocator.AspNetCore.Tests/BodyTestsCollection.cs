namespace Allocator.AspNetCore.Tests;

/// <summary>Alone: the folder of temporary files is an environment variable of the process.</summary>
[CollectionDefinition(nameof(BodyTests), DisableParallelization = true)]
public class BodyTestsCollection : ICollectionFixture<TemporaryFolder>
{
}
