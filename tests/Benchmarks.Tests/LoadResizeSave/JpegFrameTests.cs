using SkiaSharp;

namespace LoadResizeSave.Tests;

public class JpegFrameTests
{
    private const byte Baseline = 0xC0;
    private const byte Progressive = 0xC2;

    [Fact]
    public void Read_OneScanOfAllComponents_KeepsNoCoefficients()
    {
        JpegFrame frame = JpegFrame.Read(File(Baseline, 100, 50, [0x11, 0x11, 0x11], inFirstScan: 3));

        Assert.False(frame.HasSeveralScans);
        Assert.Equal(JpegFrame.WorkingBytes(100), frame.DecoderBytes);
    }

    [Theory]
    [InlineData(Progressive, 3)]
    [InlineData(Baseline, 1)]
    public void Read_SeveralScans_KeepsAllCoefficients(byte marker, byte inFirstScan)
    {
        JpegFrame frame = JpegFrame.Read(File(marker, 5120, 2880, [0x11, 0x11, 0x11], inFirstScan));

        Assert.Equal(JpegFrame.WorkingBytes(5120) + (5120 * 2880 * 3 * 2), frame.DecoderBytes);
    }

    [Fact]
    public void Read_SubsampledColours_CountsWholeUnitsOfEach()
    {
        JpegFrame frame = JpegFrame.Read(File(Progressive, 17, 16, [0x22, 0x11, 0x11], inFirstScan: 3));

        // Two units of 16 x 16 pixels: four blocks of brightness in each, and one of each colour.
        Assert.Equal(2 * 6 * 64, frame.Coefficients);
    }

    [Fact]
    public void Read_BytesToFillUpAndOtherSegments_AreSkipped()
    {
        byte[] file = File(Progressive, 8, 8, [0x11], inFirstScan: 1);

        JpegFrame frame = JpegFrame.Read([0xFF, 0xD8, 0xFF, 0xFF, 0xFE, 0, 4, 0xFF, 0xC0, .. file.AsSpan(2)]);

        Assert.Equal(new JpegFrame(8, 64, true), frame);
    }

    [Fact]
    public void Read_CutAnywhereBeforeItsScan_IsRefused()
    {
        byte[] file = File(Progressive, 40, 30, [0x22, 0x11, 0x11], inFirstScan: 3);
        for (int length = 0; length < file.Length - 1; length++)
        {
            Assert.Throws<UnreadablePictureException>(() => JpegFrame.Read(file.AsSpan(0, length)));
        }
    }

    [Fact]
    public void Read_FileOfTheLibrary_AgreesWithIt()
    {
        JpegFrame frame = JpegFrame.Read(Pictures.File(40, 30, SKEncodedImageFormat.Jpeg));

        // Colours at half the resolution: 3 x 2 units of six blocks.
        Assert.Equal(new JpegFrame(40, 6 * 6 * 64, false), frame);
    }

    // The headers, up to the first byte of the scan that says how many components it has.
    private static byte[] File(byte marker, ushort width, ushort height, byte[] factors, byte inFirstScan)
    {
        List<byte> file = [0xFF, 0xD8, 0xFF, marker, 0, (byte)(8 + (3 * factors.Length)), 8];
        file.AddRange([(byte)(height >> 8), (byte)height, (byte)(width >> 8), (byte)width, (byte)factors.Length]);
        for (int i = 0; i < factors.Length; i++)
        {
            file.AddRange([(byte)(i + 1), factors[i], 0]);
        }

        file.AddRange([0xFF, 0xDA, 0, (byte)(6 + (2 * inFirstScan)), inFirstScan]);
        return [.. file];
    }
}
