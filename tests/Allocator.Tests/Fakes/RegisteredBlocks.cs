using System.Collections.Concurrent;

namespace Allocator.Tests.Fakes;

/// <summary>
/// Plays a device: keeps a list of the blocks that it was told of, and fails on one that it has already, or does not have.
/// </summary>
internal sealed class RegisteredBlocks
{
    private readonly ConcurrentDictionary<nint, long> _blocks = new();
    private readonly ConcurrentQueue<string> _errors = new();

    /// <summary>Gets or sets what else happens at a commit, with the number of blocks that are registered then.</summary>
    public Action<int>? OnCommitted { get; set; }

    /// <summary>Gets or sets what else happens at a release.</summary>
    public Action<nint>? OnReleasing { get; set; }

    public int Count => _blocks.Count;

    public int Commits { get; private set; }

    public int Releases { get; private set; }

    /// <summary>Gets the first thing that went wrong; null where nothing did.</summary>
    public string? Error => _errors.TryPeek(out string? error) ? error : null;

    public bool Contains(nint address) => _blocks.ContainsKey(address);

    /// <summary>Makes options with this as the device.</summary>
    public MemoryAllocatorOptions CreateOptions(bool keepBlocks = false) => new()
    {
        BlockCommitted = Register,
        BlockReleasing = Unregister,
        KeepBlocks = keepBlocks,
        MaximumPoolSizeMegabytes = keepBlocks ? 4 : null,
    };

    public void Register(nint address, long lengthInBytes)
    {
        Commits++;
        OnCommitted?.Invoke(Count);
        if (!_blocks.TryAdd(address, lengthInBytes))
        {
            _errors.Enqueue($"{address:x} was committed twice.");
        }
    }

    public void Unregister(nint address, long lengthInBytes)
    {
        Releases++;
        OnReleasing?.Invoke(address);
        if (!_blocks.TryRemove(address, out long registered) || registered != lengthInBytes)
        {
            _errors.Enqueue($"{address:x} was released with {lengthInBytes} bytes, committed with {registered}.");
        }
    }
}
