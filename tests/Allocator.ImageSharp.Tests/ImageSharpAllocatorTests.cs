using System.Numerics;
using System.Runtime.CompilerServices;
using SixLabors.ImageSharp;
using SixLabors.ImageSharp.Memory;
using ImageSharpOptions = SixLabors.ImageSharp.Memory.AllocationOptions;
using Pool = Allocator.MemoryAllocator;

namespace Allocator.ImageSharp.Tests;

/// <summary>What the package's adapter does, with a model of how ImageSharp asks it: see the declarations.</summary>
public class ImageSharpAllocatorTests
{
    private const int Block = 4 << 20;

    [Fact]
    public void Allocate_AboveTheLimit_ThrowsWhatImageSharpCatches()
    {
        using Pool pool = Pool.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 8 });
        ImageSharpAllocator adapter = new(pool);

        InvalidMemoryOperationException thrown = Assert.Throws<InvalidMemoryOperationException>(() => adapter.Allocate<byte>(9 << 20));

        MemoryLimitExceededException cause = Assert.IsType<MemoryLimitExceededException>(ImageSharpAllocator.FindRefusal(thrown));
        Assert.Equal(9 << 20, cause.RequestedBytes);
        Assert.Equal(cause.Message, thrown.Message);
    }

    [Fact]
    public void Allocate_NoRoomInTheBudget_ThrowsWhatImageSharpCatches()
    {
        using Pool pool = Pool.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 16 });
        ImageSharpAllocator adapter = new(pool);
        using IMemoryOwner<byte> most = adapter.Allocate<byte>(12 << 20);

        InvalidMemoryOperationException thrown = Assert.Throws<InvalidMemoryOperationException>(() => adapter.Allocate<byte>(8 << 20));

        Assert.IsType<MemoryLimitExceededException>(ImageSharpAllocator.FindRefusal(thrown));
        Assert.Equal(12 << 20, pool.GetStatistics().BudgetUsedBytes);
    }

    [Fact]
    public void Allocate_SystemRefuses_ThrowsWhatImageSharpCatches()
    {
        using Pool pool = Pool.Create(
            new MemoryAllocatorOptions { BlockCommitted = (_, _) => throw new OutOfMemoryException("no memory") });
        ImageSharpAllocator adapter = new(pool);

        InvalidMemoryOperationException thrown = Assert.Throws<InvalidMemoryOperationException>(() => adapter.Allocate<byte>(Block));

        OutOfMemoryException cause = Assert.IsType<OutOfMemoryException>(ImageSharpAllocator.FindRefusal(thrown));
        Assert.Equal(cause.Message, thrown.Message);
    }

    /// <summary>A decoder computes one from a damaged header.</summary>
    [Fact]
    public void Allocate_NegativeLength_ThrowsWhatImageSharpCatches()
    {
        using Pool pool = Pool.Create();
        InvalidMemoryOperationException thrown =
            Assert.Throws<InvalidMemoryOperationException>(() => new ImageSharpAllocator(pool).Allocate<int>(-1));
        Assert.Contains("-1", thrown.Message);
        Assert.Null(ImageSharpAllocator.FindRefusal(thrown));
    }

    [Fact]
    public void FindRefusal_ThrownInsideADecoder_FindsTheCause()
    {
        using Pool pool = Pool.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 1 });
        Exception thrown = Assert.Throws<InvalidMemoryOperationException>(() => new ImageSharpAllocator(pool).Allocate<byte>(2 << 20));

        Assert.IsType<MemoryLimitExceededException>(ImageSharpAllocator.FindRefusal(new FormatException("the image is damaged", thrown)));
        Assert.IsType<MemoryLimitExceededException>(
            ImageSharpAllocator.FindRefusal(new AggregateException(new FormatException("another row"), thrown)));
        Assert.Null(ImageSharpAllocator.FindRefusal(new FormatException("the image is damaged")));
        Assert.Null(ImageSharpAllocator.FindRefusal(null));
    }

    /// <summary>A PNG of 99 bytes promises 40,000 x 40,000 pixels. Versions 2, 3 and 4 refuse it with an allocator of their own.</summary>
    [Fact]
    public void Decode_PictureThatPromisesSixGigabytes_IsRefusedAsWithoutThePackage()
    {
        using Pool pool = Pool.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = int.MaxValue });

        InvalidImageContentException thrown =
            Assert.Throws<InvalidImageContentException>(() => Image.Decode(Over(pool), 40_000, 40_000));

        MemoryLimitExceededException refusal = Assert.IsType<MemoryLimitExceededException>(ImageSharpAllocator.FindRefusal(thrown));
        Assert.False(refusal.IsTransient);
        Assert.Equal((6_400_000_000, 4L << 30), (refusal.RequestedBytes, refusal.LimitBytes));
        Assert.Equal(0, pool.GetStatistics().PeakCommittedBytes);
    }

    /// <summary>The limit for a single image, with ImageSharp's own allocator and here. An image is many pieces of 4 MiB.</summary>
    [Theory]
    [InlineData(3300, 3300)]
    [InlineData(8000, 8000)]
    public void Decode_AboveTheAllocationLimit_IsRefusedAsNotTransientAndLeavesNothing(int width, int height)
    {
        using Pool pool = Pool.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 20 });

        InvalidImageContentException thrown =
            Assert.Throws<InvalidImageContentException>(() => Image.Decode(Over(pool), width, height));

        MemoryLimitExceededException refusal = Assert.IsType<MemoryLimitExceededException>(ImageSharpAllocator.FindRefusal(thrown));
        Assert.False(refusal.IsTransient);
        Assert.Equal(20 << 20, refusal.LimitBytes);
        Assert.InRange(refusal.RequestedBytes, (20 << 20) + 1, 4L * width * height);
        Assert.Equal(0, pool.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void Decode_AsLargeAsTheAllocationLimit_IsServedAgainAndAgain()
    {
        using Pool pool = Pool.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 20 });
        for (int i = 0; i < 3; i++)
        {
            Dispose(Image.Decode(Over(pool), 1024, 5 * 1024));
            Dispose(Image.Decode(Over(pool), 1000, 5000));
        }
    }

    /// <summary>That of ImageSharp's own allocators; the pool's is four times as high.</summary>
    [Fact]
    public void Allocate_OneBufferAboveAGigabyte_IsRefused()
    {
        using Pool pool = Pool.Create();
        Exception thrown =
            Assert.Throws<InvalidMemoryOperationException>(() => new ImageSharpAllocator(pool).Allocate<byte>((1 << 30) + 1));
        Assert.Equal(1 << 30, Assert.IsType<MemoryLimitExceededException>(ImageSharpAllocator.FindRefusal(thrown)).LimitBytes);
    }

    /// <summary>ImageSharp drops them. Nobody has seen them, so nobody may miss them.</summary>
    [Fact]
    public void Decode_RefusedHalfWay_ReturnsItsPiecesAtOnce()
    {
        using Pool pool = Pool.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
        Configuration configuration = Over(pool);

        InvalidImageContentException thrown = Assert.Throws<InvalidImageContentException>(() => Image.Decode(configuration, 6000, 6000));

        Assert.IsType<MemoryLimitExceededException>(ImageSharpAllocator.FindRefusal(thrown));
        MemoryAllocatorStatistics now = pool.GetStatistics();
        Assert.Equal((0L, 0L, 0L), (now.BudgetUsedBytes, now.OutstandingAllocations, now.QuarantinedBytes));
        Dispose(Image.Decode(configuration, 4000, 4000));
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Equal(0, pool.GetStatistics().Abandoned);
    }

    /// <summary>What the refused request does not belong to stays: an image with pixels, one without, a buffer that is no image.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Decode_RefusedHalfWay_LeavesEarlierMemoryAlone(bool isUsed)
    {
        using Pool pool = Pool.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
        Configuration configuration = Over(pool);
        IReadOnlyList<IMemoryOwner<int>> image = Image.Decode(configuration, 1024, 4 * 1024);
        if (isUsed)
        {
            image.ToList().ForEach(piece => piece.Memory.Span.Fill(7));
        }

        using IMemoryOwner<int> buffer = configuration.MemoryAllocator.Allocate<int>(1 << 20);
        Assert.Throws<InvalidImageContentException>(() => Image.Decode(configuration, 6000, 6000));

        Assert.Equal(5, pool.GetStatistics().OutstandingAllocations);
        if (!isUsed)
        {
            image.ToList().ForEach(piece => piece.Memory.Span.Fill(7));
        }

        buffer.Memory.Span.Fill(8);
        Assert.All(image, piece => Assert.Equal(-1, piece.Memory.Span.IndexOfAnyExcept(7)));
        Dispose(image);
    }

    /// <summary>A buffer without the question for the largest piece is no piece, however long it is.</summary>
    [Fact]
    public void Allocate_RefusedBehindAnImage_LeavesTheImageAlone()
    {
        using Pool pool = Pool.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 20 });
        Configuration configuration = Over(pool);
        IReadOnlyList<IMemoryOwner<int>> image = Image.Decode(configuration, 1024, 4 * 1024);
        image[^1].Memory.Span.Fill(7);

        Assert.Throws<InvalidMemoryOperationException>(() => configuration.MemoryAllocator.Allocate<byte>(3 * Block));
        Assert.Throws<InvalidMemoryOperationException>(() =>
        {
            using IMemoryOwner<int> fits = configuration.MemoryAllocator.Allocate<int>(1 << 20);
            configuration.MemoryAllocator.Allocate<int>(1 << 20).Dispose();
        });

        Assert.Equal(4, pool.GetStatistics().OutstandingAllocations);
        Assert.Equal(7, image[^1].Memory.Span[0]);
        Dispose(image);
    }

    /// <summary>The thread remembers the pieces of the last image, and must not keep them.</summary>
    [Fact]
    public void Decode_ImageIsForgotten_IsFoundByACollection()
    {
        using Pool pool = Pool.Create();
        Forget(Over(pool));
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Equal((0L, 4L), (pool.GetStatistics().OutstandingAllocations, pool.GetStatistics().Abandoned));
    }

    /// <summary>A limit that ImageSharp has itself counts as a picture that never fits: 413, not 500.</summary>
    [Fact]
    public void FindRefusal_LimitOfImageSharp_NeverFits()
    {
        Exception thrown = new FormatException("the image is damaged", InvalidMemoryOperationException.ForLimit(5_000, 4_000));
        MemoryLimitExceededException refusal = Assert.IsType<MemoryLimitExceededException>(ImageSharpAllocator.FindRefusal(thrown));
        Assert.Equal((5_000L, 4_000L, false), (refusal.RequestedBytes, refusal.LimitBytes, refusal.IsTransient));
        Assert.Null(ImageSharpAllocator.FindRefusal(new InvalidMemoryOperationException("A buffer of length=-1.")));
    }

    [Fact]
    public void Allocate_Disposed_SaysSo()
    {
        Pool pool = Pool.Create();
        pool.Dispose();
        Assert.Throws<ObjectDisposedException>(() => new ImageSharpAllocator(pool).Allocate<byte>(Block));
    }

    [Fact]
    public void Allocate_Clean_IsZeroed()
    {
        using Pool pool = Pool.Create();
        ImageSharpAllocator adapter = new(pool);
        using (IMemoryOwner<byte> used = adapter.Allocate<byte>(Block))
        {
            used.Memory.Span.Fill(1);
        }

        using IMemoryOwner<byte> clean = adapter.Allocate<byte>(Block, ImageSharpOptions.Clean);
        Assert.Equal(-1, clean.Memory.Span.IndexOfAnyExcept((byte)0));
    }

    [Fact]
    public void AllocateRows_LargeImage_ComesInBlocks()
    {
        using Pool pool = Pool.Create();
        IReadOnlyList<IMemoryOwner<int>> pieces = new ImageSharpAllocator(pool).AllocateRows<int>(4096, 1024);
        Assert.Equal(4, pieces.Count);
        Assert.All(pieces, piece => Assert.Equal(Block, sizeof(int) * piece.Memory.Length));
        Dispose(pieces);
    }

    [Fact]
    public void AllocateRows_RowAboveABlock_FitsThePieceForItsWidth()
    {
        const int Width = 300_000;
        const int Height = 5;
        using Pool pool = Pool.Create();
        ImageSharpAllocator byDefault = new(pool);
        Assert.Throws<InvalidMemoryOperationException>(() => byDefault.AllocateRows<Vector4>(Width, Height));

        ImageSharpAllocator wide = new(pool, ImageSharpAllocator.PieceFor(Width));
        IReadOnlyList<IMemoryOwner<Vector4>> pieces = wide.AllocateRows<Vector4>(Width, Height);

        Assert.Equal(Height, pieces.Count);
        foreach (IMemoryOwner<Vector4> piece in pieces)
        {
            Assert.Equal(Width, piece.Memory.Length);
            piece.Memory.Span.Fill(Vector4.One);
        }

        Dispose(pieces);
        Assert.Equal(0, pool.GetStatistics().RentedBytes);
    }

    [Theory]
    [InlineData(0, Block)]
    [InlineData(1, Block)]
    [InlineData(262_144, Block)]
    [InlineData(262_145, 2 * Block)]
    [InlineData(int.MaxValue, int.MaxValue)]
    public void PieceFor_AWidth_HoldsItsRowsOfFourFloats(int width, int expected) =>
        Assert.Equal(expected, ImageSharpAllocator.PieceFor(width));

    [Fact]
    public void AllocateRows_LargestPieceWithoutBound_IsContiguous()
    {
        using Pool pool = Pool.Create();
        IReadOnlyList<IMemoryOwner<int>> pieces = new ImageSharpAllocator(pool, int.MaxValue).AllocateRows<int>(4096, 1024);
        Assert.Equal(4096 * 1024, Assert.Single(pieces).Memory.Length);
        Dispose(pieces);
    }

    /// <summary>The configuration's <c>PreferContiguousImageBuffers</c>: the whole image is one request.</summary>
    [Fact]
    public void AllocateRows_PreferContiguous_IsContiguous()
    {
        using Pool pool = Pool.Create();
        IReadOnlyList<IMemoryOwner<int>> pieces = new ImageSharpAllocator(pool).AllocateRows<int>(4096, 1024, preferContiguous: true);
        Span<int> all = Assert.Single(pieces).Memory.Span;
        all.Fill(1);
        Assert.Equal(4096 * 1024, all.Length);
        Dispose(pieces);
    }

    [Fact]
    public void Constructor_WithoutPoolOrPiece_Throws()
    {
        using Pool pool = Pool.Create();
        Assert.Throws<ArgumentNullException>(() => new ImageSharpAllocator(null!));
        Assert.Throws<ArgumentOutOfRangeException>(() => new ImageSharpAllocator(pool, 0));
    }

    [Fact]
    public void ReleaseRetainedResources_IdleMemory_GoesBack()
    {
        using Pool pool = Pool.Create();
        ImageSharpAllocator adapter = new(pool);
        adapter.Allocate<byte>(Block).Dispose();
        Assert.NotEqual(0, pool.GetStatistics().CommittedBytes);
        adapter.ReleaseRetainedResources();
        Assert.Equal(0, pool.GetStatistics().CommittedBytes);
    }

    private static Configuration Over(Pool pool) => new() { MemoryAllocator = new ImageSharpAllocator(pool) };

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Forget(Configuration configuration) => _ = Image.Decode(configuration, 1024, 4 * 1024);

    private static void Dispose(IEnumerable<IDisposable> pieces) => pieces.ToList().ForEach(piece => piece.Dispose());
}
