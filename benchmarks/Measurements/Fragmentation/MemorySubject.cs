namespace Measurements.Fragmentation;

/// <summary>The sources of memory that are compared.</summary>
internal enum SubjectKind
{
    Unaligned,
    Aligned,

    /// <summary>Pixel buffers of this library, of blocks of 4 MiB.</summary>
    Discontiguous,

    /// <summary>Pixel buffers of this library, each in one piece.</summary>
    Contiguous,

    /// <summary>The model of a classic pool over the heap.</summary>
    Classic,
}

/// <summary>An image of four bytes a pixel, written to on every page.</summary>
internal sealed class HeldImage(Action free) : IDisposable
{
    public void Dispose() => free();
}

/// <summary>Where images get their memory from.</summary>
internal abstract class MemorySubject : IDisposable
{
    private static readonly string[] s_names =
        ["raw unaligned", "raw aligned", "pixels, discontiguous", "pixels, contiguous", "classic pool (model)"];

    public static string NameOf(SubjectKind kind) => s_names[(int)kind];

    public static MemorySubject Create(SubjectKind kind) => kind switch
    {
        SubjectKind.Unaligned => new Raw<MemorySource.Heap>(default),
        SubjectKind.Aligned => new Raw<MemorySource.AlignedHeap>(new(64)),
        SubjectKind.Discontiguous => new Pixels(AllocationOptions.None),
        SubjectKind.Contiguous => new Pixels(AllocationOptions.Contiguous),
        SubjectKind.Classic => new ClassicPixels(),
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "There is no such subject."),
    };

    /// <summary>Allocates an image and writes to each of its pages.</summary>
    public abstract HeldImage Allocate(int width, int height);

    /// <summary>
    /// Gives memory that lies idle back to the operating system, as far as there is a way to ask for it. .NET has no such call for the
    /// heap.
    /// </summary>
    public virtual void ReleaseIdle()
    {
    }

    /// <summary>
    /// Compiles and loads what the first calls need, with an image that is too small for a block: that is not to be counted as growth.
    /// </summary>
    public void WarmUp()
    {
        for (int i = 0; i < 3; i++)
        {
            Allocate(64, 64).Dispose();
            ReleaseIdle();
            _ = ProcessMemory.ReadResident();
        }
    }

    public virtual void Dispose()
    {
    }

    private sealed class Raw<TSource>(TSource source) : MemorySubject
        where TSource : struct, IMemorySource<HeldAddress>
    {
        public override HeldImage Allocate(int width, int height)
        {
            int bytes = checked(width * height * sizeof(uint));
            HeldAddress held = source.Allocate(bytes);
            PageTouch.Write(held.Address, bytes);
            return new HeldImage(() => source.Free(held, bytes));
        }
    }

    private sealed class Pixels(AllocationOptions options) : MemorySubject
    {
        private readonly MemoryAllocator _allocator = MemoryAllocator.Create();

        public override HeldImage Allocate(int width, int height)
        {
            PixelBuffer<uint> pixels = _allocator.AllocatePixels<uint>(width, height, options);
            pixels.ProcessPixelRows(static rows =>
            {
                for (int y = 0; y < rows.Height; y++)
                {
                    PageTouch.Write(MemoryMarshal.AsBytes(rows.GetRowSpan(y)));
                }
            });
            return new HeldImage(pixels.Dispose);
        }

        public override void ReleaseIdle() => _allocator.ReleaseRetainedResources();

        public override void Dispose() => _allocator.Dispose();
    }

    private sealed class ClassicPixels : MemorySubject
    {
        // Enough for all that is outstanding at once.
        private readonly ClassicAllocator _allocator = new(256);

        public override HeldImage Allocate(int width, int height)
        {
            ClassicGroup<uint> rows = _allocator.AllocateRows<uint>(width, height);
            for (int y = 0; y < height; y++)
            {
                PageTouch.Write(MemoryMarshal.AsBytes(rows.GetRow(y, width)));
            }

            return new HeldImage(rows.Dispose);
        }

        public override void ReleaseIdle() => _allocator.Release();

        public override void Dispose() => _allocator.Release();
    }
}
