using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Primitives;

namespace Allocator.AspNetCore.Configuration;

/// <summary>
/// Logs a warning when the configuration of a running allocator changes: the change has no effect before the next start. It throws
/// nothing, because it runs on the thread that reloads the configuration.
/// </summary>
internal sealed class ConfigurationWatch : IDisposable
{
    private readonly object _lock = new();
    private readonly Dictionary<string, string> _reported = [];
    private readonly List<IDisposable> _watches = [];
    private readonly IEnumerable<IConfigureOptions<MemoryAllocatorOptions>> _sources;
    private readonly IOptionsFactory<MemoryAllocatorOptions> _factory;
    private readonly IOptionsMonitor<MemoryAllocatorOptions> _monitor;
    private readonly RunningAllocators _running;
    private readonly ILogger _logger;

    public ConfigurationWatch(
        IEnumerable<IConfigureOptions<MemoryAllocatorOptions>> sources,
        IOptionsFactory<MemoryAllocatorOptions> factory,
        IOptionsMonitor<MemoryAllocatorOptions> monitor,
        RunningAllocators running,
        ILogger<ConfigurationWatch> logger)
    {
        _sources = sources;
        _factory = factory;
        _monitor = monitor;
        _running = running;
        _logger = logger;
    }

    /// <summary>Begins to watch the configurations that options were bound to, by this package or by the application itself.</summary>
    public void Start()
    {
        if (_monitor.OnChange((_, name) => Compare(name ?? Options.DefaultName)) is { } changes)
        {
            _watches.Add(changes);
        }

        foreach (IConfigureOptions<MemoryAllocatorOptions> source in _sources)
        {
            if (source is OptionsFromConfiguration configuration)
            {
                _watches.Add(ChangeToken.OnChange(configuration.Section.GetReloadToken, Compare, configuration.Name));
            }
        }
    }

    public void Dispose()
    {
        foreach (IDisposable watch in _watches)
        {
            watch.Dispose();
        }
    }

    private void Compare(string name)
    {
        try
        {
            string difference = Difference(name);
            lock (_lock)
            {
                // A file that is saved once is often reported twice.
                if (_reported.GetValueOrDefault(name, "") == difference)
                {
                    return;
                }

                _reported[name] = difference;
            }

            if (difference.Length > 0)
            {
                AllocatorLog.ConfigurationChanged(_logger, AllocatorName.Describe(name), difference);
            }
        }
        catch (Exception exception)
        {
            AllocatorLog.ConfigurationUnreadable(_logger, AllocatorName.Describe(name), exception);
        }
    }

    private string Difference(string name)
    {
        if (!_running.TryGetOptions(name, out Dictionary<string, string>? running))
        {
            return "";
        }

        try
        {
            return OptionKeys.Differences(running, OptionKeys.Read(_factory.Create(name)));
        }
        catch (OptionsValidationException exception)
        {
            return $"it would be refused: {exception.Message}";
        }
    }
}
