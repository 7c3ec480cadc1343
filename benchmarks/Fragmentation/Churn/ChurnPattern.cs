using System;
using System.Collections.Generic;

namespace Fragmentation.Churn;

/// <summary>An order of allocations and releases that is hard on a heap: large images come and go while small ones, allocated between them, stay.</summary>
internal sealed record ChurnPattern
{
    /// <summary>Gets the name on the command line.</summary>
    public required string Name { get; init; }

    /// <summary>Gets what it does, in words.</summary>
    public required string Description { get; init; }

    /// <summary>Gets the number of threads that share the iterations; 1 is the main thread, which alone uses the heap's main arena.</summary>
    public required int Threads { get; init; }

    /// <summary>Gets how many images a thread holds. A new one is allocated before the one that it replaces, at random, is released.</summary>
    public required int LiveImages { get; init; }

    /// <summary>Gets the smallest size of an image, in pixels of 4 bytes.</summary>
    public required int LeastPixels { get; init; }

    /// <summary>Gets the largest size of an image, in pixels of 4 bytes. Sizes between are as likely to double as to halve.</summary>
    public required int MostPixels { get; init; }

    /// <summary>Gets the smallest size of a small allocation, in bytes. One is made with each image, from the heap, whatever the images come from.</summary>
    public required int LeastSmallBytes { get; init; }

    /// <summary>Gets the largest size of a small allocation, in bytes.</summary>
    public required int MostSmallBytes { get; init; }

    /// <summary>Gets how many small allocations a thread holds; beyond, the oldest is released.</summary>
    public required int LiveSmalls { get; init; }

    /// <summary>Gets the patterns that are measured.</summary>
    public static IReadOnlyList<ChurnPattern> All { get; } =
    [
        new()
        {
            Name = "mixed",
            Description = "two threads; images of 0.25 to 16 MB replace one of four at random; small allocations of 25 to 200 bytes stay for 2,000 iterations",
            Threads = 2,
            LiveImages = 4,
            LeastPixels = 1 << 16,
            MostPixels = 1 << 22,
            LeastSmallBytes = 25,
            MostSmallBytes = 200,
            LiveSmalls = 2000,
        },
        new()
        {
            Name = "one-size",
            Description = "one thread; an image of 9 MB replaces the one before; a small allocation of 37 bytes stays for 2,000 iterations (the case of OpenCV issue 15526)",
            Threads = 1,
            LiveImages = 1,
            LeastPixels = 1500 * 1500,
            MostPixels = 1500 * 1500,
            LeastSmallBytes = 37,
            MostSmallBytes = 37,
            LiveSmalls = 2000,
        },
    ];

    /// <summary>Returns the width and height of the next image; about 4:3, and square where there is no choice.</summary>
    public (int Width, int Height) NextSize(Random random)
    {
        if (LeastPixels == MostPixels)
        {
            int side = (int)Math.Sqrt(LeastPixels);
            return (side, side);
        }

        double pixels = LeastPixels * Math.Pow((double)MostPixels / LeastPixels, random.NextDouble());
        int width = (int)Math.Sqrt(pixels * 4 / 3);
        return (width, (int)(pixels / width));
    }
}
