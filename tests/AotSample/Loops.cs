using System.Globalization;
using Allocator;

namespace AotSample;

/// <summary>Does one operation as often as it is told, and nothing else: <c>Measurements instructions</c> counts what it takes.</summary>
internal static class Loops
{
    private const string Budgeted = "budgeted-";
    private const int Small = 64 << 10;
    private const int Block = 4 << 20;
    private const int FourBlocks = 16 << 20;
    private const int Width = 1024;
    private const int Rows = 1024;

    /// <summary>
    /// Runs what is asked for, and gives the exit code. First it says where the program lies in memory, so that addresses can be turned
    /// into names.
    /// </summary>
    public static int Run(string operation, string count)
    {
        string program = Path.GetFileName(Environment.ProcessPath!);
        string first = File.ReadLines("/proc/self/maps").First(line => line.EndsWith(program, StringComparison.Ordinal));
        Console.WriteLine(first[..first.IndexOf('-', StringComparison.Ordinal)]);

        // The pool's usual size would follow from the heap limit that valgrind needs.
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MaximumPoolSizeMegabytes = 256,
            MemoryBudgetMegabytes = operation.StartsWith(Budgeted, StringComparison.Ordinal) ? 256 : null,
        });
        int times = int.Parse(count, CultureInfo.InvariantCulture);
        switch (operation)
        {
            case "owner-4m": Owners(allocator, times, Block); break;
            case "owner-64k": Owners(allocator, times, Small); break;
            case "lease-4m": Leases(allocator, times, Block); break;
            case "lease-64k": Leases(allocator, times, Small); break;
            case Budgeted + "lease-4m": Leases(allocator, times, Block); break;
            case Budgeted + "lease-64k": Leases(allocator, times, Small); break;
            case "aligned-64k": AlignedOwners(allocator, times); break;
            case "run-16m": Leases(allocator, times, FourBlocks); break;
            case "pixels-64m": Pixels(allocator, times); break;
            case "array-64k": Arrays(times); break;
            case "row": PixelRows(allocator, times); break;
            case "slice": Slices(times); break;
            default: throw new ArgumentException($"There is no operation {operation}.");
        }

        return 0;
    }

    private static void Owners(MemoryAllocator allocator, int times, int length)
    {
        for (int i = 0; i < times; i++)
        {
            allocator.Allocate<byte>(length).Dispose();
        }
    }

    private static void AlignedOwners(MemoryAllocator allocator, int times)
    {
        for (int i = 0; i < times; i++)
        {
            allocator.AllocateAligned<byte>(Small, 4096).Dispose();
        }
    }

    private static void Leases(MemoryAllocator allocator, int times, int length)
    {
        for (int i = 0; i < times; i++)
        {
            MemoryLease<byte> lease = allocator.Rent<byte>(length);
            lease.Dispose();
        }
    }

    private static void Pixels(MemoryAllocator allocator, int times)
    {
        for (int i = 0; i < times; i++)
        {
            allocator.AllocatePixels<int>(4096, 4096).Dispose();
        }
    }

    private static void Arrays(int times)
    {
        for (int i = 0; i < times; i++)
        {
            ArrayPool<byte>.Shared.Return(ArrayPool<byte>.Shared.Rent(Small));
        }
    }

    private static void PixelRows(MemoryAllocator allocator, int times)
    {
        using PixelBuffer<int> pixels = allocator.AllocatePixels<int>(Width, Rows);
        for (int done = 0; done < times; done += Rows)
        {
            pixels.ProcessPixelRows(static rows =>
            {
                for (int y = 0; y < rows.Height; y++)
                {
                    rows.GetRowSpan(y)[0] = y;
                }
            });
        }
    }

    private static void Slices(int times)
    {
        Span<int> pixels = new int[Width * Rows];
        for (int done = 0; done < times; done += Rows)
        {
            for (int y = 0; y < Rows; y++)
            {
                pixels.Slice(y * Width, Width)[0] = y;
            }
        }
    }
}
