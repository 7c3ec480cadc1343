using System.Buffers.Binary;

namespace Allocator.SkiaSharp.Tests;

/// <summary>Files that are cut off, damaged, no pictures, or claim what they do not have.</summary>
public class BadFileTests
{
    public static TheoryData<string> Files() => Picture.All();

    [Theory]
    [MemberData(nameof(Files))]
    public async Task DecodeBitmap_FileIsCutOff_ThrowsAndLeavesNothing(string name)
    {
        byte[] file = Picture.Read(name);
        using MemoryAllocator allocator = MemoryAllocator.Create();

        // The last bytes of some formats say nothing of pixels.
        foreach (int length in new[] { 0, 1, 10, 30, 100, 500, file.Length / 3, file.Length * 3 / 4 })
        {
            byte[] part = file[..length];
            Assert.Throws<InvalidDataException>(() => allocator.DecodeBitmap(new MemoryStream(part)).Dispose());
            InvalidDataException exception = await Assert.ThrowsAsync<InvalidDataException>(
                async () => (await allocator.DecodeBitmapAsync(new TricklingStream(part))).Dispose());

            Assert.Contains(nameof(SKCodecResult), exception.Message, StringComparison.Ordinal);
            Assert.Equal((name, length, 0), (name, length, (int)allocator.GetStatistics().OutstandingAllocations));
        }
    }

    [Theory]
    [MemberData(nameof(Files))]
    public void DecodeBitmap_OfADamagedFile_ThrowsOrDecodesAndLeavesNothing(string name)
    {
        byte[] file = Picture.Read(name);
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64, BudgetTimeout = TimeSpan.Zero });
        Random random = new(name.Length);
        for (int i = 0; i < 60; i++)
        {
            byte[] damaged = [.. file];
            for (int j = 0; j < 4; j++)
            {
                // Most of what decides lies in the beginning.
                damaged[random.Next(i % 2 == 0 ? 200 : damaged.Length)] = (byte)random.Next(256);
            }

            Exception? exception = Record.Exception(() => allocator.DecodeBitmap(new MemoryStream(damaged)).Dispose());

            Assert.True(
                exception is null or InvalidDataException or NotSupportedException or MemoryLimitExceededException, $"{exception}");
            Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
            Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
        }
    }

    [Fact]
    public void DecodeBitmap_NotAPicture_ReadsOnlyTheBeginning()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        byte[] text = new byte[10_000_000];
        text.AsSpan().Fill((byte)'a');
        using MemoryStream stream = new(text);

        InvalidDataException exception = Assert.Throws<InvalidDataException>(() => allocator.DecodeBitmap(stream).Dispose());

        Assert.Contains("Unimplemented", exception.Message, StringComparison.Ordinal);
        Assert.InRange(stream.Position, 1, 100_000);
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    /// <summary>20 KB that claim 4 gigapixels, of which a progressive decoder would take 24 GB from malloc.</summary>
    [Theory]
    [InlineData("baseline.jpg")]
    [InlineData("progressive-444.jpg")]
    public async Task DecodeBitmapAsync_HeaderClaimsTooMuch_NeverFits(string name)
    {
        byte[] file = [.. Picture.Read(name)];
        int frame = file.AsSpan().IndexOf(name.StartsWith('b') ? [0xFF, 0xC0] : new byte[] { 0xFF, 0xC2 });
        BinaryPrimitives.WriteUInt16BigEndian(file.AsSpan(frame + 5), 65_000);
        BinaryPrimitives.WriteUInt16BigEndian(file.AsSpan(frame + 7), 65_000);
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 100 });

        MemoryLimitExceededException exception = await Assert.ThrowsAsync<MemoryLimitExceededException>(
            async () => (await allocator.DecodeBitmapAsync(new MemoryStream(file))).Dispose());
        Assert.Throws<MemoryLimitExceededException>(() => allocator.DecodeBitmap(new MemoryStream(file)).Dispose());

        Assert.False(exception.IsTransient);
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }

    [Fact]
    public void EstimateBitmapBytes_OfAHeaderThatClaimsTooMuch_IsMoreThanAnyMachineHas()
    {
        byte[] file = [.. Picture.Read("progressive-444.jpg")];
        int frame = file.AsSpan().IndexOf(new byte[] { 0xFF, 0xC2 });
        BinaryPrimitives.WriteUInt16BigEndian(file.AsSpan(frame + 5), 65_000);
        BinaryPrimitives.WriteUInt16BigEndian(file.AsSpan(frame + 7), 65_000);

        Assert.InRange(MemoryAllocator.Default.EstimateBitmapBytes(file), 65_000L * 65_000 * 10, 65_000L * 65_000 * 13);
    }
}
