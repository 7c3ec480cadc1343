// Written by hand from https://docs.sixlabors.com/api/ImageSharp: the members that the guide uses, as documented for versions 3
// and 4. Not the library: no image is decoded here.
#pragma warning disable CS1591
using System;
using System.Collections.Generic;
using System.IO;
using SixLabors.ImageSharp.Formats;
using SixLabors.ImageSharp.Formats.Jpeg;
using SixLabors.ImageSharp.Memory;
using SixLabors.ImageSharp.Metadata;

namespace SixLabors.ImageSharp
{
    public sealed class Configuration
    {
        public static Configuration Default { get; } = new();

        public MemoryAllocator MemoryAllocator { get; set; } = new SimpleGcMemoryAllocator();

        public bool PreferContiguousImageBuffers { get; set; }

        public ImageFormatManager ImageFormatsManager { get; init; } = new();

        // Leaves PreferContiguousImageBuffers out, as the library was seen to do.
        public Configuration Clone() => new() { MemoryAllocator = MemoryAllocator, ImageFormatsManager = ImageFormatsManager };
    }

    public abstract class Image
    {
        public static ImageInfo Identify(DecoderOptions options, Stream stream)
        {
            DescribedFile.LastIdentifiedWith = options;
            int first = stream.ReadByte();
            return stream is DescribedFile file ? file.Info
                : first == DescribedFile.Mark && DescribedFile.OfOtherStreams is { } info ? info
                : throw new UnknownImageFormatException("no image");
        }
    }

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

    public static class MetadataExtensions
    {
        public static JpegMetadata GetJpegMetadata(this ImageMetadata metadata) => metadata.Jpeg;
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

    public sealed class DecoderOptions
    {
        public Configuration Configuration { get; init; } = Configuration.Default;

        public bool SkipMetadata { get; init; }

        public uint MaxFrames { get; init; } = int.MaxValue;
    }
}

namespace SixLabors.ImageSharp.Formats.Jpeg
{
    public sealed class JpegFormat : IImageFormat;
}

namespace SixLabors.ImageSharp.Metadata
{
    public sealed class ImageFrameMetadata;

    public sealed class ImageMetadata
    {
        public IImageFormat? DecodedImageFormat { get; init; }

        internal JpegMetadata Jpeg { get; init; } = new();
    }
}
