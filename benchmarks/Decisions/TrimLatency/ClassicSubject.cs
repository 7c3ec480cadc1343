using System.Buffers;
using Decisions.Machines;
using Measuring.Classic;
using Measuring.Memory;

namespace Decisions.TrimLatency;

/// <summary>The model of the classic design, which frees what is idle under the lock that renters need.</summary>
internal sealed class ClassicSubject : TrimSubject
{
    private readonly ClassicAllocator _allocator;

    /// <summary>Makes a subject with a pool of <paramref name="blocks"/> blocks and one more for the renter.</summary>
    public ClassicSubject(int blocks) => _allocator = new ClassicAllocator(blocks + 1);

    /// <inheritdoc/>
    public override string Name => "classic model";

    /// <inheritdoc/>
    public override void Fill(int blocks)
    {
        IMemoryOwner<byte>[] owners = new IMemoryOwner<byte>[blocks];
        for (int i = 0; i < blocks; i++)
        {
            owners[i] = _allocator.Allocate<byte>(MemorySize.Block);
            PageTouch.Write(owners[i].Memory.Span);
        }

        foreach (IMemoryOwner<byte> owner in owners)
        {
            owner.Dispose();
        }
    }

    /// <inheritdoc/>
    public override void Trim() => _allocator.Release();

    /// <inheritdoc/>
    public override void Verify(int blocks)
    {
        // It frees every idle block. What the heap makes of that is in the table: the memory that was given back.
    }

    /// <inheritdoc/>
    public override void Rent(RentWindow window) => RentLoops.Classic(_allocator, window);

    /// <inheritdoc/>
    public override void Dispose() => _allocator.Release();
}
