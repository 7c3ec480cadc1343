using Allocator;

namespace ContractSuite;

/// <summary>
/// What crosses the border to native code and to other libraries: release callbacks above all, which each runtime makes in its own way.
/// </summary>
internal sealed class InteropContract(MemoryAllocator allocator)
{
    public unsafe void HandOff()
    {
        // An array, one block, several.
        foreach (int width in (int[])[30, 800, 3000])
        {
            long before = allocator.GetStatistics().OutstandingAllocations;
            NativePixels pixels = allocator.AllocatePixels<int>(width, width, AllocationOptions.Contiguous).HandOff();
            GC.Collect();
            *(int*)(pixels.Pointer + (long)(width - 1) * pixels.RowBytes) = 7;
            Checks.That(allocator.GetStatistics().OutstandingAllocations == before + 1, "the pixels are out");

            // As native code does, twice.
            var release = (delegate* unmanaged[Cdecl]<IntPtr, IntPtr, void>)pixels.ReleaseFunction;
            release(pixels.Pointer, pixels.ReleaseContext);
            release(IntPtr.Zero, pixels.ReleaseContext);
            pixels.Dispose();
            Checks.That(allocator.GetStatistics().OutstandingAllocations == before, "the pixels are back");
        }
    }

    public void Wrapped()
    {
        ushort[] memory = new ushort[30];
        int releases = 0;
        PixelBuffer<ushort> pixels = allocator.WrapPixels(memory.AsMemory(), 8, 3, 10, () => releases++);
        memory[8] = 4;
        pixels.DangerousGetRowSpan(0)[7] = 5;
        GC.Collect();
        pixels.Clear();
        pixels.DangerousGetRowSpan(2)[7] = 6;
        pixels.Dispose();
        pixels.Dispose();
        Checks.That(releases == 1, $"{releases} releases");
        Checks.That((memory[7], memory[8], memory[27]) == (0, 4, 6), "rows are cleared, gaps are not");
    }

    public void Stream()
    {
        byte[] content = new byte[9_000_000];
        Pattern.Fill(content, 3);
        using PooledMemoryStream stream = allocator.CreateStream();
        stream.Write(content, 0, content.Length);
        stream.GetSpan(5_000_000)[4_999_999] = 7;
        stream.Advance(5_000_000);
        stream.Position = 0;
        MemoryStream copy = new();
        stream.CopyTo(copy);
        Pattern.Verify(copy.ToArray().AsSpan(0, content.Length), 3);
        stream.Position = 0;
        copy.SetLength(0);
        stream.CopyToAsync(copy).Wait();
        Checks.That((copy.Length, copy.ToArray()[13_999_999]) == (14_000_000, (byte)7), "all of it is copied");
        Pattern.Verify(copy.ToArray().AsSpan(0, content.Length), 3);
    }

    public void Pool()
    {
        using MemoryPool<byte> pool = allocator.AsMemoryPool<byte>();
        using IMemoryOwner<byte> owner = pool.Rent(3_000_000);
        Checks.That(owner.Memory.Length == 3_000_000, "as long as asked for");
    }
}
