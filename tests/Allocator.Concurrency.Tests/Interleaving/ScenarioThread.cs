namespace Allocator.Concurrency.Interleaving;

/// <summary>One thread of a scenario.</summary>
internal sealed record ScenarioThread(string Name, Action Body, Action? Before);
