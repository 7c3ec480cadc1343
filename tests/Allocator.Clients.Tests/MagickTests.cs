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
}
