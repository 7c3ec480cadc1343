using System;
using System.IO;
using System.Threading;
using System.Threading.Tasks;
using Allocator;
using SixLabors.ImageSharp;
using SixLabors.ImageSharp.Formats;
using SixLabors.ImageSharp.Formats.Jpeg;
using SixLabors.ImageSharp.Memory;
using Pool = Allocator.MemoryAllocator;

namespace Integrations;

/// <summary>
/// One image of ImageSharp 3 with a reservation for all memory that it takes: it starts when there is room for all of it, and never waits
/// half-way. Dispose it after the image.
/// </summary>
public sealed class ImageSharpAdmission : IDisposable
{
    /// <summary>What is added to each estimate at least, in bytes: rows, the window of the resizer, a thumbnail and its encoder.</summary>
    public const long WorkingBytes = 8 << 20;

    // Per column: 16 rows of a JPEG's samples before and after the transform, or a window of the resizer. Matters from 16,384 pixels of
    // width on.
    private const long WorkingBytesPerColumn = 512;

    // A JPEG's coefficients lie in whole units of up to 32 pixels.
    private const int CoefficientUnit = 32;

    // Headers are read without the pool: they must not wait behind the reservations that they are read for.
    private static readonly DecoderOptions s_header = NewHeaderOptions();

    private ImageSharpAdmission(MemoryReservation reservation, ImageInfo info, DecoderOptions decoderOptions)
    {
        Reservation = reservation;
        Info = info;
        DecoderOptions = decoderOptions;
    }

    /// <summary>Gets what was reserved.</summary>
    public MemoryReservation Reservation { get; }

    /// <summary>Gets what the header says.</summary>
    public ImageInfo Info { get; }

    /// <summary>
    /// Gets the options to load the image with: decoding, processing and encoding then take their memory from the reservation.
    /// </summary>
    public DecoderOptions DecoderOptions { get; }

    /// <summary>Reads the header of the image, and returns what it says. Takes no memory of a pool, and does not copy the file.</summary>
    /// <param name="stream">
    /// The file, at its start. Left where it was if it can seek; a stream that cannot is read to its end by ImageSharp.
    /// </param>
    public static ImageInfo Identify(Stream stream)
    {
        ArgumentNullException.ThrowIfNull(stream);
        long start = stream.CanSeek ? stream.Position : 0;

        // Image.IdentifyAsync would copy the whole file to memory first.
        ImageInfo info = Image.Identify(s_header, stream);
        if (stream.CanSeek)
        {
            stream.Position = start;
        }

        return info;
    }

    /// <summary>
    /// Returns how many bytes of <paramref name="pool"/> an image takes at most while it is decoded and processed: the copy of its file,
    /// its coefficients, all its frames, and copies of these.
    /// </summary>
    /// <param name="pool">The allocator that is to reserve it: it counts whole blocks.</param>
    /// <param name="info">The header.</param>
    /// <param name="fileLengthInBytes">The length of the file: asynchronous loading copies it to memory.</param>
    /// <param name="bytesPerPixel">
    /// The size of the pixel type that is loaded: 4 for <c>Image.Load&lt;Rgba32&gt;</c>, whatever the file holds. Null where the type is
    /// left to ImageSharp: 3 for a JPEG, at least 4 for others, 8 for 16 bits a channel.
    /// </param>
    /// <param name="liveCopies">
    /// How many images of the full size are alive at once after decoding: 1 for resizing in place to something small, 2 where a clone or
    /// an effect of the full size is made.
    /// </param>
    /// <param name="maximumFrames">The frames that are loaded at most, where <c>DecoderOptions.MaxFrames</c> limits them.</param>
    /// <remarks>
    /// JPEG and PNG were measured. A decoder of another format may hold a second copy of the pixels while it works: count it in <paramref
    /// name="bytesPerPixel"/>.
    /// An image that needs more than its reservation, up to twice of it, is served before newcomers.
    /// </remarks>
    public static long EstimateBytes(
        Pool pool,
        ImageInfo info,
        long fileLengthInBytes,
        int? bytesPerPixel = null,
        int liveCopies = 1,
        int maximumFrames = int.MaxValue)
    {
        ArgumentNullException.ThrowIfNull(pool);
        ArgumentNullException.ThrowIfNull(info);
        ArgumentOutOfRangeException.ThrowIfNegative(fileLengthInBytes);
        ArgumentOutOfRangeException.ThrowIfLessThan(liveCopies, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(maximumFrames, 1);
        bool jpeg = info.Metadata.DecodedImageFormat is JpegFormat;
        int pixel = bytesPerPixel ?? (jpeg ? 3 : Math.Max(4, BytesOfPixel(info)));
        int frames = Math.Clamp(info.FrameMetadataCollection.Count, 1, maximumFrames);
        long decoding = pool.EstimatePixelBytes(info.Width, info.Height, pixel, frames)
            + (fileLengthInBytes == 0 ? 0 : pool.EstimateBytes(fileLengthInBytes))
            + (jpeg ? EstimateCoefficients(pool, info) : 0);
        long processing = pool.EstimatePixelBytes(info.Width, info.Height, pixel, checked(frames * liveCopies));
        return checked(Math.Max(decoding, processing) + Math.Max(WorkingBytes, WorkingBytesPerColumn * info.Width));
    }

    /// <summary>
    /// Reads the header, waits without a thread until <paramref name="pool"/> has all that the image takes, and returns the reservation
    /// with options that use it.
    /// </summary>
    /// <param name="pool">The allocator; without a budget it admits everything at once.</param>
    /// <param name="stream">The file, at its start; it can seek, as a file or a buffered upload does. Left where it was.</param>
    /// <param name="bytesPerPixel">As for <see cref="EstimateBytes"/>.</param>
    /// <param name="liveCopies">As for <see cref="EstimateBytes"/>.</param>
    /// <param name="maximumFrames">How many frames are loaded at most; also set in the options.</param>
    /// <param name="configuration">
    /// What the options are made from; <c>Configuration.Default</c> unless given. Its allocator is not used.
    /// </param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="MemoryLimitExceededException">The image is larger than the whole budget.</exception>
    /// <exception cref="UnknownImageFormatException">The file is no image.</exception>
    public static async Task<ImageSharpAdmission> AdmitAsync(
        Pool pool,
        Stream stream,
        int? bytesPerPixel = null,
        int liveCopies = 1,
        int maximumFrames = int.MaxValue,
        Configuration? configuration = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(pool);
        ArgumentNullException.ThrowIfNull(stream);
        if (!stream.CanSeek)
        {
            throw new ArgumentException("must be able to seek: the header is read before the image", nameof(stream));
        }

        ImageInfo info = Identify(stream);
        long bytes = EstimateBytes(pool, info, stream.Length - stream.Position, bytesPerPixel, liveCopies, maximumFrames);
        MemoryReservation reservation = await pool.ReserveAsync(bytes, cancellationToken).ConfigureAwait(false);
        try
        {
            Configuration own = NewConfiguration(configuration ?? Configuration.Default, reservation, info.Width);
            return new ImageSharpAdmission(reservation, info, new DecoderOptions { Configuration = own, MaxFrames = (uint)maximumFrames });
        }
        catch
        {
            reservation.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Returns a copy of <paramref name="configuration"/> that takes its memory from <paramref name="reservation"/>, in pieces that hold
    /// the rows of images of <paramref name="width"/> pixels.
    /// </summary>
    public static Configuration NewConfiguration(Configuration configuration, MemoryReservation reservation, int width)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        Configuration own = configuration.Clone();
        own.PreferContiguousImageBuffers = configuration.PreferContiguousImageBuffers;   // Clone leaves it out
        own.MemoryAllocator = new ImageSharpAllocator(reservation, ImageSharpAllocator.PieceFor(width));
        return own;
    }

    /// <summary>Ends the reservation. An image that is still there stays valid, and its memory counts until it is disposed.</summary>
    public void Dispose() => Reservation.Dispose();

    // A progressive JPEG is complete with its last scan only: until then all coefficients are kept, 2 bytes for each sample. With 4:2:0
    // there are half as many samples.
    private static long EstimateCoefficients(Pool pool, ImageInfo info)
    {
        if (info.Metadata.GetJpegMetadata() is not { Progressive: true } progressive)
        {
            return 0;
        }

        int components = Math.Max(3, BytesOfPixel(info));
        int bytes = progressive.ColorType is JpegEncodingColor.YCbCrRatio420 ? components : 2 * components;
        return pool.EstimatePixelBytes(WholeUnits(info.Width), WholeUnits(info.Height), bytes) + WorkingBytes;
    }

    private static int WholeUnits(int length) => (length + CoefficientUnit - 1) / CoefficientUnit * CoefficientUnit;

    private static int BytesOfPixel(ImageInfo info) => (info.PixelType.BitsPerPixel + 7) / 8;

    private static DecoderOptions NewHeaderOptions()
    {
        Configuration configuration = Configuration.Default.Clone();
        configuration.MemoryAllocator = new SimpleGcMemoryAllocator();
        return new DecoderOptions { Configuration = configuration, SkipMetadata = true };
    }
}
