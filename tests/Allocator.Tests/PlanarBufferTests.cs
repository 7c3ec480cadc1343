using CsCheck;

namespace Allocator.Tests;

public class PlanarBufferTests
{
    // As FFmpeg and libyuv lay them out.
    [Fact]
    public void AllocatePlanar_Contiguous_LaysThePlanesOneAfterAnother()
    {
        using TestSetup setup = new(maximumBlocks: 64);
        using PlanarBuffer nv12 = setup.Allocator.AllocatePlanar(PlanarFormat.Nv12, 64, 48, AllocationOptions.Contiguous);
        using PlanarBuffer i420 = setup.Allocator.AllocatePlanar(PlanarFormat.I420, 64, 48, AllocationOptions.Contiguous);
        using PlanarBuffer p010 = setup.Allocator.AllocatePlanar(PlanarFormat.P010, 64, 48, AllocationOptions.Contiguous);
        using PlanarBuffer tensor = setup.Allocator.AllocatePlanar(PlanarFormat.Of<float>(3), 64, 48, AllocationOptions.Contiguous);
        Assert.Equal((64 * 72, 64 * 72), (nv12.LengthInBytes, i420.LengthInBytes));
        Assert.Equal((2 * 64 * 72, 3 * 4 * 64 * 48), (p010.LengthInBytes, tensor.LengthInBytes));
        Assert.Equal((64, 32, 24, 64, 64L * 48), Describe<ushort>(nv12, 1));
        Assert.Equal((64, 32, 24, 32, 64L * 48), Describe<byte>(i420, 1));
        Assert.Equal((64, 32, 24, 32, 64L * 60), Describe<byte>(i420, 2));
        Assert.Equal((64, 32, 24, 128, 128L * 48), Describe<uint>(p010, 1));
        Assert.Equal((64, 64, 48, 256, 256L * 96), Describe<float>(tensor, 2));
        Assert.Equal((64, 48, true), (nv12.Width, nv12.Height, nv12.IsContiguous));
        Assert.StartsWith($"PlanarBuffer {PlanarFormat.Nv12} 64 × 48, ", nv12.ToString(), StringComparison.Ordinal);
        Assert.Equal("NV12", PlanarFormat.Nv12.ToString());
    }

    [Fact]
    public void Planes_AnyFormatSizeAndAlignment_DoNotOverlapAndAreComplete() =>
        Gen.Select(Gen.Int[0, 3], Gen.Int[1, 500], Gen.Int[1, 60], Gen.Int[0, 6], Gen.Bool, Gen.Bool).Sample(
            static (format, width, height, alignment, isContiguous, isGuarded) =>
            {
                using TestSetup setup = new(
                    maximumBlocks: 64, new MemoryAllocatorOptions { Safety = isGuarded ? SafetyMode.Guarded : SafetyMode.Standard });
                PlanarFormat[] formats = [PlanarFormat.Nv12, PlanarFormat.I420, PlanarFormat.P010, PlanarFormat.Of<Pixel3>(4)];
                PlanarBuffer planes = setup.Allocator.AllocatePlanar(
                    formats[format], width, height, isContiguous ? AllocationOptions.Contiguous : AllocationOptions.None, 1 << alignment);
                for (int i = 0; i < planes.Format.PlaneCount; i++)
                {
                    using PixelBuffer<byte> bytes = Bytes(planes, format, i);
                    Assert.Equal(0, bytes.RowStrideInBytes % (1 << alignment));
                    bytes.Fill((byte)(i + 1));
                }

                for (int i = 0; i < planes.Format.PlaneCount; i++)
                {
                    using PixelBuffer<byte> bytes = Bytes(planes, format, i);
                    for (int y = 0; y < bytes.Height; y++)
                    {
                        Assert.Equal(-1, bytes.DangerousGetRowSpan(y).IndexOfAnyExcept((byte)(i + 1)));
                    }
                }

                Assert.Equal(1, setup.Statistics.OutstandingAllocations);
                planes.Dispose();
                Assert.Equal(0, setup.Statistics.OutstandingAllocations);
            });

    [Fact]
    public void Dispose_OfTheOwner_EndsAllPlanesButNotTheirCrops()
    {
        using TestSetup setup = new(maximumBlocks: 64);
        PlanarBuffer planes = setup.Allocator.AllocatePlanar(PlanarFormat.Nv12, 200, 100);
        PixelBuffer<byte> luma = planes.GetPlane<byte>(0);
        Assert.Same(luma, planes.GetPlane<byte>(0));
        luma.Fill(7);
        PixelBuffer<byte> crop = luma.Crop(100, 50, 10, 10);
        planes.Dispose();
        planes.Dispose();
        Assert.Throws<ObjectDisposedException>(() => luma.Clear());
        Assert.Throws<ObjectDisposedException>(() => planes.GetPlane<byte>(0));
        Assert.Throws<ObjectDisposedException>(() => planes.GetPlane<ushort>(1));
        Assert.Equal(7, crop.DangerousGetRowSpan(9)[9]);
        Assert.Equal(1, setup.Statistics.OutstandingAllocations);
        crop.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
        Assert.True(setup.AllIsIdle);
    }

    [Fact]
    public void GetPlane_AfterItsOwnDispose_IsMadeAnew()
    {
        using TestSetup setup = new();
        using PlanarBuffer planes = setup.Allocator.AllocatePlanar(PlanarFormat.I420, 20, 10);
        planes.GetPlane<byte>(1).Fill(9);
        planes.GetPlane<byte>(1).Dispose();
        Assert.Equal(9, planes.GetPlane<byte>(1).DangerousGetRowSpan(4)[9]);
        Assert.Equal(9, planes.GetPlane<sbyte>(1).DangerousGetRowSpan(4)[9]);
    }

    [Fact]
    public void GetPlane_PlanesDisposedAgainAndAgain_AreNotKept()
    {
        using TestSetup setup = new();
        using PlanarBuffer planes = setup.Allocator.AllocatePlanar(PlanarFormat.I420, 20, 10);
        WeakReference ended = DisposePlanes(planes);
        Assert.NotNull(planes.GetPlane<byte>(1));
        GC.Collect();
        Assert.False(ended.IsAlive);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static WeakReference DisposePlanes(PlanarBuffer planes)
        {
            PixelBuffer<byte> first = planes.GetPlane<byte>(0);
            first.Dispose();
            planes.GetPlane<byte>(0).Dispose();
            return new WeakReference(first);
        }
    }

    [Fact]
    public void GetPlane_ManyThreadsAtOnce_ReturnTheSameObject()
    {
        using TestSetup setup = new();
        for (int round = 0; round < 200; round++)
        {
            using PlanarBuffer planes = setup.Allocator.AllocatePlanar(PlanarFormat.I420, 20, 10);
            PixelBuffer<byte>[] found = new PixelBuffer<byte>[4];
            using Barrier barrier = new(found.Length);
            TestThreads.Run(found.Length, i =>
            {
                barrier.SignalAndWait();
                found[i] = planes.GetPlane<byte>(i % 2);
            });
            Assert.Same(found[0], found[2]);
            Assert.Same(found[1], found[3]);
        }

        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void GetPlane_WrongArguments_AreRefused()
    {
        using TestSetup setup = new();
        using PlanarBuffer planes = setup.Allocator.AllocatePlanar(PlanarFormat.Nv12, 20, 10);
        Assert.Throws<ArgumentOutOfRangeException>("plane", () => planes.GetPlane<byte>(2));
        Assert.Contains("2", Assert.Throws<ArgumentException>(() => planes.GetPlane<byte>(1)).Message);
        Assert.Throws<ArgumentNullException>("format", () => setup.Allocator.AllocatePlanar(null!, 1, 1));
        Assert.Throws<ArgumentOutOfRangeException>("width", () => setup.Allocator.AllocatePlanar(PlanarFormat.Nv12, 0, 1));
        Assert.Throws<ArgumentOutOfRangeException>("planes", () => PlanarFormat.Of<float>(0));
        Assert.Throws<MemoryLimitExceededException>(
            () => setup.Allocator.AllocatePlanar(PlanarFormat.Of<Pixel16>(64), int.MaxValue, int.MaxValue));
    }

    [Fact]
    public void AllocatePlanar_MoreRowsThanAnInt_IsRefusedBeforeAnythingIsTaken()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 8192 });
        foreach ((PlanarFormat format, int height) in new[] { (PlanarFormat.Of<byte>(64), 40_000_000), (PlanarFormat.I420, 750_000_000) })
        {
            string message = Assert.Throws<ArgumentOutOfRangeException>(
                "height", () => allocator.AllocatePlanar(format, 1, height, AllocationOptions.Contiguous)).Message;
            Assert.Contains("2,147,483,647", message);
        }

        Assert.Equal(0, allocator.GetStatistics().CommittedBytes);
    }

    [Theory]
    [InlineData(1920, 1080)]
    [InlineData(15, 7)]
    public async Task EstimatePlanarBytes_OfAFrame_IsEnoughForIt(int width, int height)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
        long bytes = allocator.EstimatePlanarBytes(PlanarFormat.Nv12, width, height, liveCopies: 2);
        Assert.InRange(bytes, 2 * width * height * 3 / 2, 2 * Math.Max(8 << 20, width * height * 3));
        using MemoryReservation job = await allocator.ReserveAsync(bytes);
        using PlanarBuffer first = job.AllocatePlanar(PlanarFormat.Nv12, width, height);
        using PlanarBuffer second = job.AllocatePlanar(PlanarFormat.Nv12, width, height);
        Assert.Equal(bytes, allocator.EstimatePlanarBytes(PlanarFormat.Nv12, width, height) * 2);
    }

    private static unsafe (int Width, int PlaneWidth, int Height, int Stride, long Offset) Describe<TPixel>(PlanarBuffer planes, int index)
        where TPixel : unmanaged
    {
        PixelBuffer<TPixel> plane = planes.GetPlane<TPixel>(index);
        using PixelBuffer<byte> first = Bytes(planes, planes.Format == PlanarFormat.P010 ? 2 : planes.Format.PlaneCount == 3
            && planes.Format != PlanarFormat.I420 ? 4 : 0, 0);
        using MemoryHandle start = first.Pin();
        using MemoryHandle pin = plane.Pin();
        return (planes.Width, plane.Width, plane.Height, plane.RowStrideInBytes, (byte*)pin.Pointer - (byte*)start.Pointer);
    }

    private static PixelBuffer<byte> Bytes(PlanarBuffer planes, int format, int index) => (format, index) switch
    {
        (0, 1) or (2, 0) => planes.GetPlane<ushort>(index).AsBytes(),
        (2, 1) => planes.GetPlane<uint>(index).AsBytes(),
        (3, _) => planes.GetPlane<Pixel3>(index).AsBytes(),
        (4, _) => planes.GetPlane<float>(index).AsBytes(),
        _ => planes.GetPlane<byte>(index).AsBytes(),
    };
}
