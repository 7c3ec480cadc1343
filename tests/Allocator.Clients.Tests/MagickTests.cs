using ImageMagick;

namespace Allocator.Clients.Tests;

/// <summary>ImageMagick's limits, which the guide takes from a reservation of the budget. They are the process's.</summary>
public class MagickTests
{
    [Fact]
    public void ResourceLimits_FromAReservation_BoundImageMagickAndCountInTheBudget() =>
        RemoteExecutor.Invoke(static async () =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
            using MemoryReservation part = await allocator.ReserveAsync(24 << 20);
            ResourceLimits.Memory = (ulong)part.ReservedBytes;
            ResourceLimits.Disk = 0;
            Assert.InRange(allocator.GetStatistics().BudgetUsedBytes, 24 << 20, 25 << 20);

            using MagickImage fits = new(MagickColors.Teal, 1600, 1200);
            Assert.Equal(1600u, fits.Width);
            MagickException exception = Assert.ThrowsAny<MagickException>(() => new MagickImage(MagickColors.Teal, 5120, 2880).Dispose());
            Assert.Contains("CacheResourcesExhausted", exception.Message, StringComparison.Ordinal);
        }).Dispose();

    /// <summary>Why the guide gives the stream room for the whole file: with some formats no exception tells of a refusal.</summary>
    [Theory]
    [InlineData(MagickFormat.Png, true)]
    [InlineData(MagickFormat.Jpeg, true)]
    [InlineData(MagickFormat.Tiff, true)]
    [InlineData(MagickFormat.WebP, false)]
    [InlineData(MagickFormat.Gif, false)]
    [InlineData(MagickFormat.Bmp, false)]
    public void Write_BudgetRefuses_IsCutOffWithOrWithoutAnException(MagickFormat format, bool throws)
    {
        using MemoryAllocator allocator = NewAllocator(megabytes: 1);
        using MagickImage image = NewImage();
        using PooledMemoryStream encoded = allocator.CreateStream();
        Assert.Equal(throws, Record.Exception(() => image.Write((Stream)encoded, format)) is MagickException);
        Assert.InRange(encoded.Length, 0, 1 << 20);
    }

    [Theory]
    [InlineData(MagickFormat.Png)]
    [InlineData(MagickFormat.WebP)]
    [InlineData(MagickFormat.Bmp)]
    public void Write_StreamWithRoomForAll_IsRefusedBeforeOrWhole(MagickFormat format)
    {
        const int Room = 1600 * 1200 * 5;
        using MemoryAllocator small = NewAllocator(megabytes: 1);
        Assert.Throws<MemoryLimitExceededException>(() => small.CreateStream(Room));
        using MemoryAllocator large = NewAllocator(megabytes: 16);
        using MagickImage image = NewImage();
        using PooledMemoryStream encoded = large.CreateStream(Room);
        long before = large.GetStatistics().BudgetUsedBytes;
        image.Write((Stream)encoded, format);
        Assert.InRange(encoded.Length, 2 << 20, Room);
        Assert.Equal(before, large.GetStatistics().BudgetUsedBytes);
    }

    private static MemoryAllocator NewAllocator(int megabytes) => MemoryAllocator.Create(
        new MemoryAllocatorOptions { MemoryBudgetMegabytes = megabytes, BudgetTimeout = TimeSpan.Zero });

    // Noise: it takes as much room in a file as in memory.
    private static MagickImage NewImage()
    {
        MagickImage image = new(MagickColors.Teal, 1600, 1200) { Quality = 100 };
        image.AddNoise(NoiseType.Random);
        return image;
    }
}
