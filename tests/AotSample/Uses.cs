using System.Diagnostics.Metrics;
using System.Runtime.InteropServices;
using Allocator;
using Allocator.Diagnostics;

namespace AotSample;

/// <summary>One method for each way to hold memory; true where what was written is what is read.</summary>
internal static class Uses
{
    public static bool Owner<T>(MemoryAllocator allocator, int length, T value)
        where T : struct, IEquatable<T>
    {
        using IMemoryOwner<T> owner = allocator.Allocate<T>(length);
        owner.Memory.Span.Fill(value);
        return owner.Memory.Length == length && owner.Memory.Span.IndexOfAnyExcept(value) < 0;
    }

    public static bool Metrics(MemoryAllocator allocator)
    {
        long rents = 0;
        using MeterListener listener = new();
        listener.InstrumentPublished = static (instrument, listener) =>
        {
            if (instrument.Name == "allocator.rents")
            {
                listener.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>((_, value, _, _) => rents = value);
        listener.Start();

        // This method loads the assembly of meters after the allocator was made: the instruments are then made in the background.
        return SpinWait.SpinUntil(
            () =>
            {
                listener.RecordObservableInstruments();
                return rents > 0 && rents == allocator.GetStatistics().Rents;
            },
            TimeSpan.FromSeconds(10));
    }

    public static unsafe bool AlignedOwner(MemoryAllocator allocator)
    {
        using IMemoryOwner<byte> owner = allocator.AllocateAligned<byte>(10_000, 4096);
        using MemoryHandle pin = owner.Memory.Pin();
        return (nuint)pin.Pointer % 4096 == 0;
    }

    public static bool Group(MemoryAllocator allocator)
    {
        using MemoryGroup<int> group = allocator.AllocateGroup<int>(5_000_000, 1000, AllocationOptions.Clean);
        long length = 0;
        foreach (Memory<int> block in group)
        {
            length += block.Length;
            if (block.Span.IndexOfAnyExcept(0) >= 0)
            {
                return false;
            }
        }

        group.Fill(7);
        return length == group.TotalLength && group[group.Count - 1].Span.IndexOfAnyExcept(7) < 0;
    }

    public static bool Pixels(MemoryAllocator allocator)
    {
        using PixelBuffer<Rgba64> source = allocator.AllocatePixels<Rgba64>(1500, 1000);
        using PixelBuffer<uint> destination = allocator.AllocatePixels<uint>(1500, 1000);
        source.ProcessPixelRows(
            static (accessor, red) =>
            {
                for (int y = 0; y < accessor.Height; y++)
                {
                    accessor.GetRowSpan(y).Fill(new Rgba64(red, (ushort)y, 0, ushort.MaxValue));
                }
            },
            (ushort)17);
        source.ProcessPixelRows(destination, static (from, to) =>
        {
            for (int y = 0; y < from.Height; y++)
            {
                Span<uint> target = to.GetRowSpan(y);
                Span<Rgba64> row = from.GetRowSpan(y);
                for (int x = 0; x < row.Length; x++)
                {
                    target[x] = (uint)(row[x].R + row[x].G);
                }
            }
        });
        return destination.DangerousGetRowSpan(999).IndexOfAnyExcept(1016u) < 0;
    }

    public static bool PixelsInParallel(MemoryAllocator allocator)
    {
        using PixelBuffer<byte> pixels = allocator.AllocatePixels<byte>(4000, 3000);
        pixels.ProcessPixelRowsInParallel(static accessor =>
        {
            for (int y = 0; y < accessor.Height; y++)
            {
                accessor.GetRowSpan(y).Fill(9);
            }
        });
        using PixelBuffer<byte> clone = pixels.Clone();
        for (int y = 0; y < clone.Height; y++)
        {
            if (clone.DangerousGetRowSpan(y).IndexOfAnyExcept((byte)9) >= 0)
            {
                return false;
            }
        }

        return true;
    }

    public static bool Lease(MemoryAllocator allocator)
    {
        using MemoryLease<double> lease = allocator.Rent<double>(300_000, AllocationOptions.Clean);
        lease.Span[^1] = 1;
        return lease.Length == 300_000 && MemoryMarshal.AsBytes(lease.Span)[..^8].IndexOfAnyExcept((byte)0) < 0;
    }

    public static bool AfterDispose(MemoryAllocator allocator)
    {
        IMemoryOwner<byte> owner = allocator.Allocate<byte>(2_000_000);
        Memory<byte> memory = owner.Memory;
        owner.Dispose();
        try
        {
#pragma warning disable ALLOC002 // What is checked here is that it throws.
            memory.Span.Clear();
#pragma warning restore ALLOC002
            return false;
        }
        catch (ObjectDisposedException)
        {
            return true;
        }
    }

    public static unsafe bool Guarded()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
        IMemoryOwner<byte> owner = allocator.Allocate<byte>(5000);
        using MemoryHandle handle = owner.Memory.Pin();
        owner.Memory.Span.Fill(1);
        owner.Dispose();
        string? explanation = AllocationRecords.Open(AllocationRecords.CurrentPath!).Explain((long)handle.Pointer + 5000);
        return explanation?.Contains(
            "is 1 byte past the end of a buffer of 5,000 bytes that is rented.", StringComparison.Ordinal) == true;
    }

    public static unsafe bool HandedOff(MemoryAllocator allocator, int width)
    {
        NativePixels pixels = allocator.AllocatePixels<Rgba64>(width, width, AllocationOptions.Contiguous).HandOff();
        new Span<byte>((void*)pixels.Pointer, pixels.RowBytes).Fill(3);
        ((delegate* unmanaged[Cdecl]<nint, nint, void>)pixels.ReleaseFunction)(pixels.Pointer, pixels.ReleaseContext);
        return allocator.GetStatistics().OutstandingAllocations == 0;
    }
}
