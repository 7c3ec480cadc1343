using System.Buffers.Binary;
using Integrations;
using NetVips;

namespace Allocator.Clients.Tests;

/// <summary>The guide's code with the real NetVips and libvips, which reads the pool's memory.</summary>
public class NetVipsPixelsTests
{
    private const int Width = 640;
    private const int Height = 480;
    private const uint Pixel = 0xFF3070B0;

    [Fact]
    public void Process_ResizedAndWritten_IsTheSmallPictureAndReturnsThePixels()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        string path = Path.Combine(Path.GetTempPath(), $"{Guid.NewGuid():N}.png");
        try
        {
            byte[] resized = [];
            NetVipsPixels.Process(Filled(allocator), image =>
            {
                Assert.Equal((Width, Height), (image.Width, image.Height));
                using Image small = image.Resize(0.25);
                small.WriteToFile(path);
                resized = small.WriteToMemory<byte>();
            });

            Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
            Assert.Equal(Width / 4 * (Height / 4), resized.Length / 4);
            Assert.All(MemoryMarshal.Cast<byte, uint>(resized).ToArray(), pixel => Assert.Equal(Pixel, pixel));

            // The first chunk of a PNG has width, height, bits of a sample and the kind of colour: 6 is RGBA.
            byte[] file = File.ReadAllBytes(path);
            Assert.Equal(Width / 4, BinaryPrimitives.ReadInt32BigEndian(file.AsSpan(16)));
            Assert.Equal(Height / 4, BinaryPrimitives.ReadInt32BigEndian(file.AsSpan(20)));
            Assert.Equal([8, 6], file.AsSpan(24, 2).ToArray());
        }
        finally
        {
            File.Delete(path);
        }
    }

    /// <summary>The guide's way to get pixels out: libvips writes them as it computes them, and the budget counts them.</summary>
    [Fact]
    public void RawsaveStream_IntoAPooledStream_WritesThePixels()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
        using PooledMemoryStream raw = allocator.CreateStream();
        NetVipsPixels.Process(Filled(allocator), image =>
        {
            using Image small = image.Resize(0.5);
            small.RawsaveStream(raw);
        });

        Assert.Equal(Width / 2 * (Height / 2) * sizeof(uint), raw.Length);
        Assert.True(allocator.GetStatistics().BudgetUsedBytes >= raw.Length);
        byte[] pixels = new byte[raw.Length];
        raw.Position = 0;
        raw.ReadExactly(pixels);
        Assert.All(MemoryMarshal.Cast<byte, uint>(pixels).ToArray(), pixel => Assert.Equal(Pixel, pixel));
    }

    [Fact]
    public void RawsaveStream_BudgetRefuses_ThrowsAndNothingIsOutstanding()
    {
        using MemoryAllocator pixels = MemoryAllocator.Create();
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 1, BudgetTimeout = TimeSpan.Zero });
        using (PooledMemoryStream raw = allocator.CreateStream())
        {
            Assert.Throws<VipsException>(() => NetVipsPixels.Process(Filled(pixels), image => image.RawsaveStream(raw)));
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations + pixels.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void Process_DelegateThrows_ReturnsThePixels()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();

        Assert.Throws<VipsException>(() => NetVipsPixels.Process(Filled(allocator), image => image.WriteToFile("picture.of-no-kind")));

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    /// <summary>A copy needs no pixels; neither does libvips' cache of operations, which keeps those of the delegate.</summary>
    [Fact]
    public void Process_CopyOutlivesTheDelegate_IsReadableAfterThePixelsAreGone()
    {
        RemoteExecutor.Invoke(static () =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
            Image? copy = null;
            NetVipsPixels.Process(Filled(allocator), image =>
            {
                using Image small = image.Resize(0.5);
                copy = small.CopyMemory();
            });
            using Image kept = copy!;

            Assert.All(MemoryMarshal.Cast<byte, uint>(kept.WriteToMemory<byte>()).ToArray(), pixel => Assert.Equal(Pixel, pixel));
            Cache.Max = 0;
            Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
        }).Dispose();
    }

    /// <summary>What the guide warns of: libvips computes late. Guarded mode finds it at the access.</summary>
    [Fact]
    public void Process_ImageLeavesTheDelegate_GuardedModeEndsTheProcessWhereItIsRead()
    {
        RemoteInvokeOptions options = new() { CheckExitCode = false };
        options.StartInfo.RedirectStandardError = true;
        using RemoteInvokeHandle handle = RemoteExecutor.Invoke(
            static () =>
            {
                using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
                Image? late = null;
                NetVipsPixels.Process(Filled(allocator), image => late = image.Resize(0.5));
                late!.WriteToMemory<byte>();
            },
            options);
        handle.Process.StandardError.ReadToEnd();
        handle.Process.WaitForExit();

        // By a signal.
        Assert.True(handle.ExitCode > 128, $"{handle.ExitCode}");
    }

    [return: OwnedBuffer]
    private static PixelBuffer<uint> Filled(MemoryAllocator allocator)
    {
        PixelBuffer<uint> pixels = allocator.AllocatePixels<uint>(Width, Height, AllocationOptions.Contiguous);
        pixels.ProcessPixelRows(static rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                rows.GetRowSpan(y).Fill(Pixel);
            }
        });
        return pixels;
    }
}
