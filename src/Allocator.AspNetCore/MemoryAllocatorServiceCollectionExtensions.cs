using Allocator;
using Allocator.AspNetCore.Admission;
using Allocator.AspNetCore.Configuration;
using Allocator.AspNetCore.Page;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers memory allocators.</summary>
public static class MemoryAllocatorServiceCollectionExtensions
{
    /// <summary>
    /// Registers the application's <see cref="MemoryAllocator"/> as a singleton that ends with the host, with options from the section
    /// <c>MemoryAllocator</c> of the host's configuration, if there is one.
    /// </summary>
    /// <param name="services">The services of the application.</param>
    /// <param name="configure">Sets further options, after the configuration.</param>
    /// <returns>The same services.</returns>
    /// <remarks>
    /// An environment variable <c>MemoryAllocator__MemoryBudgetMegabytes</c> is in that section, for instance. Pass a section to read
    /// another one instead.
    /// <para>
    /// The allocator is created when the host starts. If it refuses the options, the start fails with an
    /// <see cref="OptionsValidationException"/>. Further calls add options; they register no second allocator.
    /// </para>
    /// <para>
    /// If neither <see cref="MemoryAllocatorOptions.MemoryBudgetMegabytes"/> nor <see cref="MemoryAllocatorOptions.MinimumFreeMegabytes"/>
    /// is set, the latter becomes 20 % of the container's limit, at least 32 MiB. Outside of containers it becomes 10 % of the machine's
    /// memory. In a container without <see cref="MemoryAllocatorOptions.MaximumPoolSizeMegabytes"/>, the pool may hold half of the rest.
    /// This is logged. Set the minimum to 0 for none.
    /// </para>
    /// <para>
    /// It also lowers what Kestrel reads ahead of each connection, which no limit counts: the read buffer to 64 KB, and the windows of
    /// HTTP/2 to 65,535 bytes for a stream and four times as much for a connection, so uploads by HTTP/2 from far away become slower.
    /// Values that the application sets stay; the AppContext switch <c>Allocator.AspNetCore.SetServerReadBuffers</c>, false, keeps all.
    /// </para>
    /// </remarks>
    /// <exception cref="InvalidOperationException">A <see cref="MemoryAllocator"/> has been registered without this method.</exception>
    public static IServiceCollection AddMemoryAllocator(
        this IServiceCollection services, Action<MemoryAllocatorOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        return Add(services, Options.Options.DefaultName, section: null, configure);
    }

    /// <summary>
    /// Registers the application's <see cref="MemoryAllocator"/> as a singleton that ends with the host, with options from a section of
    /// the configuration.
    /// </summary>
    /// <param name="services">The services of the application.</param>
    /// <param name="section">
    /// The section, <c>configuration.GetSection("MemoryAllocator")</c> for instance. Its keys are the properties of
    /// <see cref="MemoryAllocatorOptions"/>, except the hooks, which are code.
    /// </param>
    /// <param name="configure">Sets further options, after the configuration.</param>
    /// <returns>The same services.</returns>
    /// <remarks>
    /// The allocator is created when the host starts. An unknown key or an invalid value makes the start fail with an
    /// <see cref="OptionsValidationException"/>. Later changes of the configuration do not affect the running allocator; they are logged as
    /// a warning.
    /// </remarks>
    /// <exception cref="InvalidOperationException">A <see cref="MemoryAllocator"/> has been registered without this method.</exception>
    public static IServiceCollection AddMemoryAllocator(
        this IServiceCollection services, IConfiguration section, Action<MemoryAllocatorOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(section);
        return Add(services, Options.Options.DefaultName, section, configure);
    }

    /// <summary>
    /// Registers one of several allocators, as a keyed singleton that ends with the host: <c>[FromKeyedServices("uploads")]</c> asks for
    /// it.
    /// </summary>
    /// <param name="services">The services of the application.</param>
    /// <param name="name">
    /// The key of the service, the name of its options, and, unless the options say otherwise, the name of the allocator in metrics.
    /// </param>
    /// <param name="configure">Sets the options; <see langword="null"/> for the defaults.</param>
    /// <returns>The same services.</returns>
    /// <remarks>
    /// As <see cref="AddMemoryAllocator(IServiceCollection, Action{MemoryAllocatorOptions}?)"/>, but no configuration is read unless a
    /// section is passed.
    /// </remarks>
    /// <exception cref="ArgumentException"><paramref name="name"/> is empty.</exception>
    /// <exception cref="InvalidOperationException">
    /// A <see cref="MemoryAllocator"/> has been registered under this key without this method.
    /// </exception>
    public static IServiceCollection AddMemoryAllocator(
        this IServiceCollection services, string name, Action<MemoryAllocatorOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentException.ThrowIfNullOrEmpty(name);
        return Add(services, name, section: null, configure);
    }

    /// <summary>
    /// Registers one of several allocators, as a keyed singleton that ends with the host, with options from a section of the
    /// configuration.
    /// </summary>
    /// <param name="services">The services of the application.</param>
    /// <param name="name">
    /// The key of the service, the name of its options, and, unless the options say otherwise, the name of the allocator in metrics.
    /// </param>
    /// <param name="section">The section, <c>configuration.GetSection("MemoryAllocator:Uploads")</c> for instance.</param>
    /// <param name="configure">Sets further options, after the configuration.</param>
    /// <returns>The same services.</returns>
    /// <remarks>
    /// As <see cref="AddMemoryAllocator(IServiceCollection, IConfiguration, Action{MemoryAllocatorOptions}?)"/>.
    /// </remarks>
    /// <exception cref="ArgumentException"><paramref name="name"/> is empty.</exception>
    /// <exception cref="InvalidOperationException">
    /// A <see cref="MemoryAllocator"/> has been registered under this key without this method.
    /// </exception>
    public static IServiceCollection AddMemoryAllocator(
        this IServiceCollection services, string name, IConfiguration section, Action<MemoryAllocatorOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(section);
        return Add(services, name, section, configure);
    }

    private static IServiceCollection Add(
        IServiceCollection services, string name, IConfiguration? section, Action<MemoryAllocatorOptions>? configure)
    {
        if (!services.Any(service => IsRegistration(service, name)))
        {
            if (name == Options.Options.DefaultName)
            {
                services.AddSingleton<IConfigureOptions<MemoryAllocatorOptions>, OptionsFromHost>();
            }

            AddAllocator(services, name);
        }

        if (section is not null)
        {
            if (name == Options.Options.DefaultName
                && services.FirstOrDefault(static service =>
                    !service.IsKeyedService && service.ImplementationType == typeof(OptionsFromHost)) is { } ofHost)
            {
                services.Remove(ofHost);
            }

            services.AddSingleton<IConfigureOptions<MemoryAllocatorOptions>>(new OptionsFromConfiguration(name, section));
        }

        if (configure is not null)
        {
            services.Configure(name, configure);
        }

        return services;
    }

    private static void AddAllocator(IServiceCollection services, string name)
    {
        object? key = name == Options.Options.DefaultName ? null : name;
        if (services.Any(service => service.ServiceType == typeof(MemoryAllocator) && Equals(service.ServiceKey, key)))
        {
            throw new InvalidOperationException(
                $"{AllocatorName.Describe(name)} has been registered before {AllocatorName.DescribeCall(name)}, whose options would have "
                + "no effect. Remove one of the two registrations, or give this allocator a name of its own.");
        }

        services.AddSingleton(new AllocatorName(name));
        if (key is null)
        {
            services.AddSingleton(static provider => provider.GetRequiredService<RunningAllocators>().Create(Options.Options.DefaultName));
        }
        else
        {
            services.AddKeyedSingleton(
                name, static (provider, key) => provider.GetRequiredService<RunningAllocators>().Create((string)key!));
            services.PostConfigure<MemoryAllocatorOptions>(name, options => options.Name ??= name);
        }

        services.AddOptions<MemoryAllocatorOptions>(name).ValidateOnStart();
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IValidateOptions<MemoryAllocatorOptions>, OptionsValidator>());
        services.TryAddSingleton<DefaultLimit>();
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IPostConfigureOptions<MemoryAllocatorOptions>, DefaultLimit>(
            static provider => provider.GetRequiredService<DefaultLimit>()));
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IHostedService, AllocatorStartup>());
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IStartupFilter, EndpointCheck>());
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IPostConfigureOptions<SocketTransportOptions>, ServerReadBuffers>());
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IPostConfigureOptions<KestrelServerOptions>, ServerReadBuffers>());
        services.AddLogging();
        services.AddMetrics();
        services.TryAddSingleton<RunningAllocators>();
        services.TryAddSingleton<ConfigurationWatch>();
        services.TryAddSingleton<AdmissionMeter>();
        services.TryAddSingleton<MemorySampler>();
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IHostedService, MemorySampler>(static provider => provider.GetRequiredService<MemorySampler>()));
    }

    private static bool IsRegistration(ServiceDescriptor service, string name) =>
        service.ServiceType == typeof(AllocatorName) && ((AllocatorName)service.ImplementationInstance!).Value == name;
}
