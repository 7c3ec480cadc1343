using LoadResizeSave.Resizing;

namespace LoadResizeSave.Tests;

public class LanczosResizerTests
{
    [Theory]
    [InlineData(1, 1, 1, 1)]
    [InlineData(100, 80, 33, 7)]
    [InlineData(2000, 40, 1, 1)]
    [InlineData(1601, 1201, 800, 600)]
    public void Resize_ConstantPicture_StaysConstant(int width, int height, int newWidth, int newHeight)
    {
        foreach (byte value in (byte[])[0, 1, 77, 254, 255])
        {
            Rgb24 colour = new(value, (byte)(255 - value), 128);
            Assert.All(Resize(width, height, newWidth, newHeight, (_, _) => colour), pixel => Assert.Equal(colour, pixel));
        }
    }

    [Fact]
    public void Resize_SameSize_CopiesThePixels()
    {
        Rgb24[] result = Resize(61, 47, 61, 47, Pictures.Pattern);

        Assert.Equal(Enumerable.Range(0, 61 * 47).Select(i => Pictures.Pattern(i % 61, i / 61)), result);
    }

    [Theory]
    [InlineData(301, 203, 100, 67)]
    [InlineData(1500, 33, 411, 9)]
    public void Resize_AnyPicture_AgreesWithTheFormula(int width, int height, int newWidth, int newHeight)
    {
        Rgb24[] result = Resize(width, height, newWidth, newHeight, Pictures.Pattern);

        Random random = new(1);
        for (int i = 0; i < 200; i++)
        {
            int index = random.Next(result.Length);
            double expected = Formula(width, height, newWidth, newHeight, index % newWidth, index / newWidth);
            Assert.InRange(result[index].G, expected - 0.51, expected + 0.51);
        }
    }

    [Fact]
    public void Resize_EveryAllocator_GivesTheSamePixels()
    {
        Rgb24[] first = Resize(1700, 1100, 333, 200, Pictures.Pattern);
        foreach (AllocatorKind kind in Enum.GetValues<AllocatorKind>())
        {
            Assert.Equal(first, Resize(1700, 1100, 333, 200, Pictures.Pattern, kind));
        }
    }

    private static Rgb24[] Resize(
        int width, int height, int newWidth, int newHeight, Func<int, int, Rgb24> pixel, AllocatorKind kind = AllocatorKind.Pool)
    {
        using PixelStore store = Pictures.Store(kind);
        using Raster<Rgb24> source = Pictures.Make(store, width, height, pixel);
        using Raster<Rgb24> target = store.AllocatePixels<Rgb24>(newWidth, newHeight, contiguous: false);
        LanczosResizer.Resize(source, target, store);
        return Pictures.ToArray(target);
    }

    // The definition, in two dimensions at once and in double precision.
    private static double Formula(int width, int height, int newWidth, int newHeight, int x, int y)
    {
        double sum = 0;
        double weights = 0;
        for (int sy = 0; sy < height; sy++)
        {
            double weightY = Lanczos(((sy + 0.5) / height * newHeight) - y - 0.5);
            for (int sx = 0; weightY != 0 && sx < width; sx++)
            {
                double weight = weightY * Lanczos(((sx + 0.5) / width * newWidth) - x - 0.5);
                sum += weight * Pictures.Pattern(sx, sy).G;
                weights += weight;
            }
        }

        return Math.Clamp(sum / weights, 0, 255);
    }

    private static double Lanczos(double x) => Math.Abs(x) >= 3 ? 0 : Sinc(x) * Sinc(x / 3);

    private static double Sinc(double x) => x == 0 ? 1 : Math.Sin(Math.PI * x) / (Math.PI * x);
}
