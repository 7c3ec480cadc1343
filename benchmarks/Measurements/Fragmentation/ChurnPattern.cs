namespace Measurements.Fragmentation;

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
