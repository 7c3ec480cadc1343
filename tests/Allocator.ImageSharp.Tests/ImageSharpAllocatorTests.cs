using System.Numerics;
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

    private static void Dispose(IEnumerable<IDisposable> pieces) => pieces.ToList().ForEach(piece => piece.Dispose());
}
