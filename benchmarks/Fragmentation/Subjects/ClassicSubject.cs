using Measuring.Classic;

namespace Fragmentation.Subjects;

/// <summary>The model of a classic pool, large enough for all that is out at once.</summary>
internal sealed class ClassicSubject : MemorySubject
{
    private const int Blocks = 256;

    private readonly ClassicAllocator _allocator = new(Blocks);

    /// <inheritdoc/>
    public override HeldImage Allocate(int width, int height) => new ClassicImage(_allocator.AllocateRows<uint>(width, height), width, height);

    /// <inheritdoc/>
    public override void ReleaseIdle() => _allocator.Release();

    /// <inheritdoc/>
    public override void Dispose() => _allocator.Release();
}
