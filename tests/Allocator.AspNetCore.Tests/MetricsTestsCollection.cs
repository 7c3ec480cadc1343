namespace Allocator.AspNetCore.Tests;

/// <summary>
/// Alone in its process: OpenTelemetry takes instruments of one name and meter for one, and forgets all of them when the first service
/// that has such a meter ends.
/// </summary>
[CollectionDefinition(nameof(MetricsTests), DisableParallelization = true)]
public sealed class MetricsTestsCollection;
