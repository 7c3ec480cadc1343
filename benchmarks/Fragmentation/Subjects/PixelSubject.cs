using Allocator;

namespace Fragmentation.Subjects;

/// <summary>This library, with its default options.</summary>
internal sealed class PixelSubject : MemorySubject
{
    private readonly MemoryAllocator _allocator = MemoryAllocator.Create();
    private readonly AllocationOptions _options;

    /// <summary>Allocates pixel buffers with <paramref name="options"/>.</summary>
    public PixelSubject(AllocationOptions options) => _options = options;

    /// <inheritdoc/>
    public override HeldImage Allocate(int width, int height) => new PixelImage(_allocator.AllocatePixels<uint>(width, height, _options));

    /// <inheritdoc/>
    public override void ReleaseIdle() => _allocator.ReleaseRetainedResources();

    /// <inheritdoc/>
    public override void Dispose() => _allocator.Dispose();
}
