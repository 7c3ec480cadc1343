using Microsoft.Extensions.DependencyInjection;

namespace Allocator.AspNetCore.Configuration;

/// <summary>
/// Marks that the application has an allocator of this name. It is the name of its options and the key of its service; the unnamed one has
/// neither.
/// </summary>
/// <param name="Value">The name; empty for the one without a name.</param>
internal sealed record AllocatorName(string Value)
{
    /// <summary>Returns its name in messages.</summary>
    public static string Describe(string? name) =>
        name is null or { Length: 0 } ? "The memory allocator" : $"The memory allocator '{name}'";

    /// <summary>Returns the call that registers it, for messages that ask for it.</summary>
    public static string DescribeCall(string name) =>
        name == Options.DefaultName ? "AddMemoryAllocator()" : $"AddMemoryAllocator(\"{name}\")";

    /// <summary>Finds an allocator among the services, which make it at its first use.</summary>
    /// <returns>Null if none is registered under this name.</returns>
    public static MemoryAllocator? Find(IServiceProvider services, string name) =>
        name == Options.DefaultName ? services.GetService<MemoryAllocator>() : services.GetKeyedService<MemoryAllocator>(name);

    /// <summary>Finds an allocator among the services, which make it at its first use.</summary>
    /// <exception cref="InvalidOperationException">None is registered under this name.</exception>
    public static MemoryAllocator FindRequired(IServiceProvider services, string name) =>
        Find(services, name) ?? throw new InvalidOperationException(
            $"{Describe(name)} is not registered. Call services.{DescribeCall(name)}.");
}
