using System;
using System.Buffers;
using Allocator;
using Decisions.Machines;
using Measuring.Memory;

namespace Decisions.TrimLatency;

/// <summary>This library's pool.</summary>
internal abstract class PooledSubject : TrimSubject
{
    // What a renter may have in hand, and the cache may get, while everything else is given back.
    private const int Tolerance = 16;

    private readonly Action<MemoryAllocator, RentWindow> _rent;
    private long _trimmedBefore;

    /// <summary>Makes a subject.</summary>
    protected PooledSubject(string name, MemoryAllocator allocator, Action<MemoryAllocator, RentWindow> rent)
    {
        Name = name;
        Allocator = allocator;
        _rent = rent;
    }

    /// <inheritdoc/>
    public override string Name { get; }

    /// <summary>Gets the allocator, which the subject disposes.</summary>
    protected MemoryAllocator Allocator { get; }

    /// <summary>Returns options for a pool that holds so many blocks, and trims only when told to.</summary>
    public static MemoryAllocatorOptions Options(int blocks) => new()
    {
        MaximumPoolSizeMegabytes = (blocks + Tolerance) * (MemorySize.Block / MemorySize.Megabyte),
        TrimPeriod = TimeSpan.FromHours(1),
        TrimRate = 1,
    };

    /// <inheritdoc/>
    public override void Fill(int blocks)
    {
        IMemoryOwner<byte>[] owners = new IMemoryOwner<byte>[blocks];
        for (int i = 0; i < blocks; i++)
        {
            owners[i] = Allocator.Allocate<byte>(MemorySize.Block);
            PageTouch.Write(owners[i].Memory.Span);
        }

        foreach (IMemoryOwner<byte> owner in owners)
        {
            owner.Dispose();
        }

        _trimmedBefore = Allocator.GetStatistics().TrimmedBytes;
    }

    /// <inheritdoc/>
    public override void Verify(int blocks)
    {
        long trimmed = Allocator.GetStatistics().TrimmedBytes - _trimmedBefore;
        if (trimmed < (long)(blocks - Tolerance) * MemorySize.Block)
        {
            throw new InvalidOperationException($"{Name}: of {blocks} idle blocks only {trimmed / MemorySize.Block} were trimmed.");
        }
    }

    /// <inheritdoc/>
    public override void Rent(RentWindow window) => _rent(Allocator, window);

    /// <inheritdoc/>
    public override void Dispose() => Allocator.Dispose();
}
