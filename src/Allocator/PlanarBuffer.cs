using Allocator.Lifetime;

namespace Allocator;

/// <summary>
/// The planes of an image in one allocation, a video frame for instance. Its owner disposes it; planes end with it.
/// </summary>
/// <remarks>
/// Several threads may ask for planes and process them at once; dispose when all have finished. Planes lie one after another, each with
/// its own row stride. A crop of a plane keeps the memory of all planes until it is disposed.
/// </remarks>
public sealed class PlanarBuffer : IDisposable, IRented
{
    private readonly MemoryAllocator _allocator;
    private readonly MemoryGroup<byte> _group = new(nameof(PlanarBuffer));
    private readonly int _lineBytes;
    private readonly int _rowAlignmentInBytes;
    private View? _views;

    internal PlanarBuffer(
        MemoryAllocator allocator, PlanarFormat format, int width, int height, int lineBytes, int rowAlignmentInBytes)
    {
        _allocator = allocator;
        _lineBytes = lineBytes;
        _rowAlignmentInBytes = rowAlignmentInBytes;
        Format = format;
        Width = width;
        Height = height;
    }

    /// <summary>Gets the format.</summary>
    public PlanarFormat Format { get; }

    /// <summary>Gets the width of the image in pixels. A plane may be narrower.</summary>
    public int Width { get; }

    /// <summary>Gets the height of the image in rows. A plane may be lower.</summary>
    public int Height { get; }

    /// <summary>Gets whether all planes are one run of memory.</summary>
    public bool IsContiguous => _group.IsContiguous;

    /// <summary>Gets the bytes from the beginning of the first plane to the end of the last.</summary>
    public long LengthInBytes => _group.TotalLength;

    void IRented.Begin(in Allocation allocation) => Begin(allocation);

    internal void Begin(in Allocation allocation) => _group.Begin(allocation);

    /// <summary>
    /// Returns a plane as a pixel buffer over the same memory. It belongs to this buffer, which disposes it: the caller need not.
    /// </summary>
    /// <typeparam name="TPixel">A type of the size of a pixel in that plane: 2 bytes for U and V of NV12.</typeparam>
    /// <param name="plane">From 0 to the number of planes of the format - 1.</param>
    /// <returns>The plane. Further calls with the same type return the same object, until it is disposed.</returns>
    /// <remarks>The first call for a plane makes some small objects.</remarks>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="plane"/> is not in that range.</exception>
    /// <exception cref="ArgumentException"><typeparamref name="TPixel"/> has another size than the pixels of the plane.</exception>
    /// <exception cref="InvalidOperationException">There are 65,535 views, pins and uses already.</exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public PixelBuffer<TPixel> GetPlane<TPixel>(int plane)
        where TPixel : unmanaged
    {
        if ((uint)plane >= (uint)Format.PlaneCount)
        {
            Throw.OutOfRange(nameof(plane), plane, $"must be from 0 to {Format.PlaneCount - 1}");
        }

        Throw.IfOtherSize<TPixel>(Format.PixelSizeOf(plane));
        PixelBuffer<TPixel>? pixels = null;
        View? added = null;
        View? first;
        do
        {
            first = Volatile.Read(ref _views);
            if (Find<TPixel>(first, plane) is { } known)
            {
                // Another thread may have been faster.
                pixels?.Dispose();
                return known;
            }

            if (added is null)
            {
                int memberBytes = _group.IsContiguous ? 0 : _group.BlockLength;
                pixels = new(_allocator, Format.RowsOf(plane, Width, Height, _lineBytes, memberBytes), _rowAlignmentInBytes);
                added = new(plane, pixels, pixels.Group);
                pixels.Group.BeginView(_group);
            }

            added.Next = first;
        }
        while (Interlocked.CompareExchange(ref _views, added, first) != first);

        // If another thread has disposed this buffer meanwhile, it may not have seen the view.
        if (!_group.IsHeld)
        {
            pixels!.Dispose();
        }

        return pixels!;
    }

    /// <summary>
    /// Ends all planes, and returns the memory as soon as nothing pins it, works on it, or views it. Never blocks; may be repeated.
    /// </summary>
    /// <exception cref="MemoryCorruptedException">In Guarded mode: a byte around the memory was changed. It has been returned.</exception>
    public void Dispose()
    {
        _group.Dispose();
        for (View? view = Interlocked.Exchange(ref _views, null); view is not null; view = view.Next)
        {
            view.Pixels.Dispose();
        }
    }

    /// <summary>Describes the image in a line: its format, its size, its blocks, and how long it has been outstanding.</summary>
    public override string ToString() =>
        Invariant($"{nameof(PlanarBuffer)} {Format} {Width} × {Height}, {_group.DescribeMemory()}");

    // Removes planes that were disposed. New ones are only put in front, so no other is lost if several threads do this.
    private PixelBuffer<TPixel>? Find<TPixel>(View? first, int plane)
        where TPixel : unmanaged
    {
        View? before = null;
        for (View? view = first; view is not null; view = view.Next)
        {
            if (view.Group.IsHeld)
            {
                before = view;
                if (view.Plane == plane && view.Pixels is PixelBuffer<TPixel> found)
                {
                    return found;
                }
            }
            else if (before is not null)
            {
                before.Next = view.Next;
            }
            else
            {
                Interlocked.CompareExchange(ref _views, view.Next, view);
            }
        }

        return null;
    }

    /// <summary>A plane that was asked for, and its memory.</summary>
    private sealed class View(int plane, IDisposable pixels, MemoryGroup<byte> group)
    {
        public int Plane => plane;

        public IDisposable Pixels => pixels;

        public MemoryGroup<byte> Group => group;

        public View? Next { get; set; }
    }
}
