using Microsoft.Extensions.Configuration;

namespace Allocator.AspNetCore.Tests;

/// <summary>A configuration that a test changes.</summary>
internal sealed class MemoryConfigurationSource : IConfigurationSource
{
    public ChangingProvider Provider { get; } = new();

    public IConfigurationProvider Build(IConfigurationBuilder builder) => Provider;

    public sealed class ChangingProvider : ConfigurationProvider
    {
        /// <summary>Tells all that it has changed, as a file does that was saved.</summary>
        public void Reload() => OnReload();
    }
}
