namespace Allocator.AspNetCore.Configuration;

/// <summary>Says that the application has an allocator of this name; empty for the one without a name.</summary>
internal sealed record AllocatorRegistration(string Name);
