// Written by hand: see Memory.cs.
#pragma warning disable CS1591
namespace SixLabors.ImageSharp.Formats.Jpeg
{
    public enum JpegEncodingColor
    {
        YCbCrRatio420 = 0,
        YCbCrRatio444 = 1,
        Cmyk = 7,
    }

    public class JpegMetadata
    {
        public JpegEncodingColor? ColorType { get; set; }

        public bool? Progressive { get; set; }

        /// <summary>Not a member of the library: a baseline JPEG, or a progressive one of these colours.</summary>
        internal static JpegMetadata Of(JpegEncodingColor? progressive) =>
            new() { Progressive = progressive is not null, ColorType = progressive ?? default };
    }
}

namespace SixLabors.ImageSharp.Formats.Webp
{
    public enum WebpFileFormatType
    {
        Lossless = 0,
        Lossy = 1,
    }

    public class WebpMetadata
    {
        public WebpFileFormatType? FileFormat { get; set; }
    }
}

namespace SixLabors.ImageSharp.Formats.Tiff
{
    public enum TiffCompression
    {
        None = 1,
        Jpeg = 7,
    }

    public class TiffFrameMetadata
    {
        public TiffCompression? Compression { get; set; }
    }
}
