namespace Allocator.Tests;

/// <summary>The tests that compare times. They run after the others, one at a time.</summary>
[CollectionDefinition(nameof(Alone), DisableParallelization = true)]
public sealed class Alone;
