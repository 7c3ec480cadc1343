using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Allocator.AspNetCore.Configuration;

/// <summary>
/// Sets the options of the allocator without a name from the section <c>MemoryAllocator</c> of the host's configuration, if the
/// application names no other section: environment variables then have an effect without a line of code.
/// </summary>
internal sealed class OptionsFromHost : OptionsFromConfiguration
{
    public const string SectionName = "MemoryAllocator";

    public OptionsFromHost(IServiceProvider services)
        : base(
            Options.DefaultName,
            (services.GetService<IConfiguration>() ?? new ConfigurationBuilder().Build()).GetSection(SectionName))
    {
    }
}
