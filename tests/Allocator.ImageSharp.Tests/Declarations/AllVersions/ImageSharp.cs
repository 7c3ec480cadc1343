// Written by hand from https://docs.sixlabors.com/api/ImageSharp: the members that the guide uses, as documented for versions 3
// and 4. Not the library: no image is decoded here.
#pragma warning disable CS1591
using System;
using System.Buffers;
using System.Collections.Generic;
using System.IO;
using SixLabors.ImageSharp.Formats;
using SixLabors.ImageSharp.Formats.Jpeg;
using SixLabors.ImageSharp.Formats.Tiff;
using SixLabors.ImageSharp.Formats.Webp;
using SixLabors.ImageSharp.Memory;
using SixLabors.ImageSharp.Metadata;
using SixLabors.ImageSharp.Processing.Processors.Transforms;

namespace SixLabors.ImageSharp
{
    public sealed class Configuration
    {
        public static Configuration Default { get; } = new();

        public MemoryAllocator MemoryAllocator { get; set; } = new SimpleGcMemoryAllocator();

        public bool PreferContiguousImageBuffers { get; set; }

        public ImageFormatManager ImageFormatsManager { get; init; } = new();

        public IDictionary<object, object> Properties { get; } = new Dictionary<object, object>();

        // Leaves PreferContiguousImageBuffers and Properties out, as the library was seen to do.
        public Configuration Clone() => new() { MemoryAllocator = MemoryAllocator, ImageFormatsManager = ImageFormatsManager };
    }

    public abstract class Image
    {
        public static ImageInfo Identify(DecoderOptions options, Stream stream)
        {
            DescribedFile.LastIdentifiedWith = options;
            int first = stream.ReadByte();
            if (stream is DescribedFile { FailsAtSecondFrame: true } && options.MaxFrames > 1)
            {
                throw new InvalidImageContentException("Invalid PNG data.", new FormatException());
            }

            return stream is DescribedFile file ? file.Info
                : first == DescribedFile.Mark && DescribedFile.OfOtherStreams is { } info ? info
                : throw new UnknownImageFormatException("no image");
        }

        /// <summary>
        /// Not a member of the library: takes the memory of an image as a decoder was seen to do, with the exception that it was seen to
        /// throw if there is none.
        /// </summary>
        internal static IReadOnlyList<IMemoryOwner<int>> Decode(Configuration configuration, int width, int height)
        {
            try
            {
                return configuration.MemoryAllocator.AllocateRows<int>(width, height, configuration.PreferContiguousImageBuffers);
            }
            catch (InvalidMemoryOperationException exception)
            {
                throw new InvalidImageContentException(
                    $"Cannot decode image. Failed to allocate buffers for possibly degenerate dimensions: {width}x{height}.", exception);
            }
        }
    }

    public struct Size;

    public class ImageInfo
    {
        public required PixelTypeInfo PixelType { get; init; }

        public required int Width { get; init; }

        public required int Height { get; init; }

        public required ImageMetadata Metadata { get; init; }

        public required IReadOnlyList<ImageFrameMetadata> FrameMetadataCollection { get; init; }
    }

    public sealed class UnknownImageFormatException : Exception
    {
        public UnknownImageFormatException(string message)
            : base(message)
        {
        }
    }

    public sealed class InvalidImageContentException : Exception
    {
        public InvalidImageContentException(string message, Exception cause)
            : base(message, cause)
        {
        }
    }

    public static class MetadataExtensions
    {
        public static JpegMetadata GetJpegMetadata(this ImageMetadata metadata) => metadata.Jpeg;

        public static WebpMetadata GetWebpMetadata(this ImageMetadata metadata) => metadata.WebP;

        public static TiffFrameMetadata GetTiffMetadata(this ImageFrameMetadata metadata) => metadata.Tiff;
    }

    /// <summary>Not of the library: a file that says what is in it.</summary>
    public sealed class DescribedFile : MemoryStream
    {
        internal const byte Mark = 0xFF;

        [ThreadStatic]
        internal static DecoderOptions? LastIdentifiedWith;

        // What is in a stream of another kind that begins with the mark.
        internal static ImageInfo? OfOtherStreams;

        public DescribedFile(ImageInfo info, int length)
            : base(new byte[length], 0, length, writable: true, publiclyVisible: true) => Info = info;

        public ImageInfo Info { get; }

        public bool IsForward { get; init; }

        // As an APNG was seen to do with version 3.1.12, which loads it.
        public bool FailsAtSecondFrame { get; init; }

        public byte[] Start
        {
            init => value.CopyTo(GetBuffer(), 0);
        }

        public override bool CanSeek => !IsForward;
    }
}

namespace SixLabors.ImageSharp.Formats
{
    public interface IImageFormat;

    public class ImageFormatManager;

    public class PixelTypeInfo
    {
        public PixelTypeInfo(int bitsPerPixel) => BitsPerPixel = bitsPerPixel;

        public int BitsPerPixel { get; }
    }

    public sealed partial class DecoderOptions
    {
        public Configuration Configuration { get; init; } = Configuration.Default;

        public Size? TargetSize { get; init; }

        public IResampler? Sampler { get; init; }

        public bool SkipMetadata { get; init; }

        public uint MaxFrames { get; init; } = int.MaxValue;
    }
}

namespace SixLabors.ImageSharp.Formats.Jpeg
{
    public sealed class JpegFormat : IImageFormat;
}

namespace SixLabors.ImageSharp.Formats.Tga
{
    public sealed class TgaFormat : IImageFormat;
}

namespace SixLabors.ImageSharp.Formats.Tiff
{
    public sealed class TiffFormat : IImageFormat;
}

namespace SixLabors.ImageSharp.Formats.Webp
{
    public sealed class WebpFormat : IImageFormat;
}

namespace SixLabors.ImageSharp.Processing.Processors.Transforms
{
    public interface IResampler;
}

namespace SixLabors.ImageSharp.Metadata
{
    public sealed class ImageFrameMetadata
    {
        internal TiffFrameMetadata Tiff { get; init; } = new();
    }

    public sealed class ImageMetadata
    {
        public IImageFormat? DecodedImageFormat { get; init; }

        internal JpegMetadata Jpeg { get; init; } = new();

        internal WebpMetadata WebP { get; init; } = new();
    }
}
