namespace Measurements.Fragmentation;

/// <summary>
/// What one thread holds and does. The same seed gives the same order of sizes and releases, whatever the memory comes from.
/// </summary>
internal sealed unsafe class ChurnThread : IDisposable
{
    private readonly ChurnPattern _pattern;
    private readonly MemorySubject _subject;
    private readonly Random _random;
    private readonly HeldImage?[] _images;
    private readonly long[] _imageBytes;
    private readonly Queue<(nint Address, int Bytes)> _smalls;

    public ChurnThread(ChurnPattern pattern, MemorySubject subject, int seed)
    {
        _pattern = pattern;
        _subject = subject;
        _random = new Random(seed);
        _images = new HeldImage?[pattern.LiveImages];
        _imageBytes = new long[pattern.LiveImages];
        _smalls = new Queue<(nint, int)>(ChurnPattern.LiveSmalls + 1);
    }

    public long LiveBytes { get; private set; }

    public void Iterate()
    {
        (int width, int height) = _pattern.NextSize(_random);
        HeldImage image = _subject.Allocate(width, height);
        KeepSmall();

        int replaced = _random.Next(_images.Length);
        _images[replaced]?.Dispose();
        long bytes = (long)width * height * sizeof(uint);
        LiveBytes += bytes - _imageBytes[replaced];
        (_images[replaced], _imageBytes[replaced]) = (image, bytes);
    }

    public void Dispose()
    {
        foreach (ref HeldImage? image in _images.AsSpan())
        {
            image?.Dispose();
            image = null;
        }

        while (_smalls.TryDequeue(out (nint Address, int Bytes) small))
        {
            NativeMemory.Free((void*)small.Address);
        }

        LiveBytes = 0;
    }

    private void KeepSmall()
    {
        int bytes = _random.Next(_pattern.SmallBytes.Least, _pattern.SmallBytes.Most + 1);
        void* small = NativeMemory.Alloc((nuint)bytes);
        NativeMemory.Fill(small, (nuint)bytes, 1);
        _smalls.Enqueue(((nint)small, bytes));
        LiveBytes += bytes;
        if (_smalls.Count > ChurnPattern.LiveSmalls)
        {
            (nint oldest, int oldBytes) = _smalls.Dequeue();
            NativeMemory.Free((void*)oldest);
            LiveBytes -= oldBytes;
        }
    }
}

/// <summary>
/// An order of allocations and releases that is hard on a heap: large images come and go while small ones, allocated between them, stay.
/// </summary>
/// <param name="Name">The name in tables.</param>
/// <param name="Description">What it does, in words.</param>
/// <param name="Threads">How many share the iterations; 1 is the main thread, which alone uses the heap's main arena.</param>
/// <param name="LiveImages">
/// How many images a thread holds. A new one is allocated before the one that it replaces, at random, is released.
/// </param>
/// <param name="Pixels">The sizes of an image, in pixels of 4 bytes. Those between are as likely to double as to halve.</param>
/// <param name="SmallBytes">
/// The sizes of small allocations. One is made with each image, from the heap, whatever the images come from.
/// </param>
internal sealed record ChurnPattern(
    string Name, string Description, int Threads, int LiveImages, (int Least, int Most) Pixels, (int Least, int Most) SmallBytes)
{
    /// <summary>How many small allocations a thread holds; beyond, the oldest is released.</summary>
    public const int LiveSmalls = 2000;

    public static IReadOnlyList<ChurnPattern> All { get; } =
    [
        new(
            "mixed",
            "two threads; images of 0.25 to 16 MB replace one of four at random; small allocations of 25 to 200 bytes stay for 2,000 "
                + "iterations",
            Threads: 2,
            LiveImages: 4,
            Pixels: (1 << 16, 1 << 22),
            SmallBytes: (25, 200)),
        new(
            "one-size",
            "one thread; an image of 9 MB replaces the one before; a small allocation of 37 bytes stays for 2,000 iterations "
                + "(the case of OpenCV issue 15526)",
            Threads: 1,
            LiveImages: 1,
            Pixels: (1500 * 1500, 1500 * 1500),
            SmallBytes: (37, 37)),
    ];

    /// <summary>Returns the width and height of the next image; about 4:3, and square where there is no choice.</summary>
    public (int Width, int Height) NextSize(Random random)
    {
        if (Pixels.Least == Pixels.Most)
        {
            int side = (int)Math.Sqrt(Pixels.Least);
            return (side, side);
        }

        double pixels = Pixels.Least * Math.Pow((double)Pixels.Most / Pixels.Least, random.NextDouble());
        int width = (int)Math.Sqrt(pixels * 4 / 3);
        return (width, (int)(pixels / width));
    }
}
