namespace Allocator.Skia;

/// <summary>
/// Decodes a file into pooled memory, one step after the other. All that can be refused is allocated before Skia is called.
/// </summary>
internal sealed class BitmapDecoder
{
    private readonly DecodePlan _plan;
    private readonly MemoryAllocator _allocator;
    private readonly MemoryReservation? _reservation;

    private BitmapDecoder(DecodePlan plan, MemoryAllocator allocator, MemoryReservation? reservation)
    {
        _plan = plan;
        _allocator = allocator;
        _reservation = reservation;
    }

    /// <summary>Reads a stream to its end and decodes it.</summary>
    /// <param name="allocator">The allocator of all memory.</param>
    /// <param name="stream">The file, from its position on.</param>
    /// <param name="options">The options of the bitmap.</param>
    /// <param name="isAsync">Whether to read asynchronously, and to reserve what the picture takes before it is decoded.</param>
    /// <param name="cancellationToken">Ends the reading and the waiting.</param>
    public static async ValueTask<PooledBitmap> DecodeAsync(
        MemoryAllocator allocator, Stream stream, SKBitmapDecodeOptions? options, bool isAsync, CancellationToken cancellationToken)
    {
        MemoryReservation? reservation = null;
        bool reserves = isAsync && allocator is not MemoryReservation;
        using EncodedPicture source = new(allocator, stream, isAsync, isReserved: !reserves, cancellationToken);
        try
        {
            PictureHeader header = await source.ReadHeaderAsync().ConfigureAwait(false);
            DecodePlan plan = new(header, options);
            if (reserves)
            {
                // Only the beginning of the file is held while this waits, and the budget does not count it.
                long sourceBytes = source.ExpectedLength(header);
                long bytes = plan.Estimate(allocator, sourceBytes);
                reservation = await allocator.ReserveAsync(bytes, cancellationToken).ConfigureAwait(false);
                allocator = reservation;
                await source.MoveToAsync(reservation, sourceBytes).ConfigureAwait(false);
            }

            await source.ReadToEndAsync().ConfigureAwait(false);
            return new BitmapDecoder(plan, allocator, reservation).Decode(source);
        }
        catch
        {
            reservation?.Dispose();
            throw;
        }
    }

    private PooledBitmap Decode(EncodedPicture source)
    {
        PooledBitmap current = DecodeFile(source);

        try
        {
            // The file is no longer needed: its memory serves the next step.
            source.Dispose();
        }
        catch
        {
            current.Dispose();
            throw;
        }

        if (_plan.Scaled is { } scaled)
        {
            current = Replace(current, scaled, !_plan.IsTurnedAtEnd, (from, to) => Scale(from, to.Bitmap));
        }

        if (_plan.IsTurnedAtEnd)
        {
            SKImageInfo stored = current.Info;
            current = Replace(current, Upright(stored), true, (from, to) => Turn.Copy(
                from.GetPixels(), from.RowBytes, 0, stored.Height, stored, _plan.Origin, to.Pixels));
        }

        return current;
    }

    private PooledBitmap DecodeFile(EncodedPicture source)
    {
        bool isLast = _plan.Scaled is null && !_plan.IsTurnedAtEnd;
        (PooledBitmap bitmap, PixelMemory pixels) = Create(_plan.IsInStrips ? Upright(_plan.Decoded) : _plan.Decoded, isLast);
        try
        {
            using IMemoryOwner<byte>? strip =
                _plan.IsInStrips ? _allocator.Allocate<byte>(_plan.Decoded.RowBytes * DecodePlan.RowsOfStrip) : null;
            using IDisposable external = _allocator.TrackExternalMemory(_plan.CodecBytes);
            using MemoryHandle pin = source.Content.Pin();
            using Codec codec = Open(pin, source.Content.Length);
            if (_plan.Format == SKEncodedImageFormat.Jpeg && JpegHeader.IsCutOff(source.Content.Span))
            {
                throw Codec.Failure(SKCodecResult.IncompleteInput);
            }

            if (strip is null)
            {
                ThrowUnlessSuccess(codec.Native.GetPixels(_plan.Decoded, pixels.Address, pixels.RowBytes, SKCodecOptions.Default));
            }
            else
            {
                DecodeStrips(codec.Native, strip, pixels);
            }

            return bitmap;
        }
        catch
        {
            bitmap.Dispose();
            throw;
        }
    }

    private static unsafe Codec Open(in MemoryHandle pin, int length) => new((nint)pin.Pointer, length);

    private static void ThrowUnlessSuccess(SKCodecResult result)
    {
        if (result != SKCodecResult.Success)
        {
            throw Codec.Failure(result);
        }
    }

    private unsafe void DecodeStrips(SKCodec codec, IMemoryOwner<byte> strip, PixelMemory pixels)
    {
        using MemoryHandle pin = strip.Memory.Pin();
        nint rows = (nint)pin.Pointer;
        SKImageInfo info = _plan.Decoded;
        ThrowUnlessSuccess(codec.StartScanlineDecode(info));
        for (int y = 0; y < info.Height; y += DecodePlan.RowsOfStrip)
        {
            int count = Math.Min(DecodePlan.RowsOfStrip, info.Height - y);
            if (codec.GetScanlines(rows, count, info.RowBytes) < count)
            {
                throw Codec.Failure(SKCodecResult.IncompleteInput);
            }

            Turn.Copy(rows, info.RowBytes, y, count, info, _plan.Origin, pixels);
        }
    }

    private void Scale(PooledBitmap from, PooledBitmap to)
    {
        using IDisposable external = _allocator.TrackExternalMemory(_plan.ScalingBytes);
        if (!from.ScalePixels(to, Scaling.Sampling(from.Info, to.Info)))
        {
            throw new NotSupportedException($"Skia does not scale pixels of {from.ColorType}.");
        }
    }

    private PooledBitmap Replace(
        PooledBitmap current, SKImageInfo info, bool isLast, Action<PooledBitmap, (PooledBitmap Bitmap, PixelMemory Pixels)> step)
    {
        using (current)
        {
            (PooledBitmap Bitmap, PixelMemory Pixels) next = Create(info, isLast);
            try
            {
                step(current, next);
                return next.Bitmap;
            }
            catch
            {
                next.Bitmap.Dispose();
                throw;
            }
        }
    }

    // Disposing the last of the bitmaps ends the reservation.
    private (PooledBitmap Bitmap, PixelMemory Pixels) Create(SKImageInfo info, bool isLast)
    {
        PixelMemory pixels = PixelMemory.Allocate(_allocator, info, AllocationOptions.None);
        return (PooledBitmap.Create(_allocator, info, pixels, isLast ? _reservation : null), pixels);
    }

    private SKImageInfo Upright(SKImageInfo stored) =>
        DecodePlan.IsTurned(_plan.Origin) ? stored.WithSize(stored.Height, stored.Width) : stored;
}
