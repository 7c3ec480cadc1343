namespace Allocator.Skia;

/// <summary>
/// Decodes a file into pooled memory, step by step. Everything that can be refused is allocated before Skia is called.
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
            CodecHeader header = await source.ReadHeaderAsync().ConfigureAwait(false);
            DecodePlan plan = new(header, options);
            if (reserves)
            {
                // Only the beginning of the file is held while this waits, and the budget does not count it.
                long sourceBytes = source.ExpectedLength(header);
                long bytes = plan.Estimate(allocator, sourceBytes);
                source.DropIfCounted();
                reservation = await allocator.ReserveAsync(bytes, cancellationToken).ConfigureAwait(false);
                allocator = reservation;
                await source.MoveToAsync(reservation, sourceBytes).ConfigureAwait(false);
            }

            await source.ReadToEndAsync().ConfigureAwait(false);
            if (header.MayBeTurned)
            {
                plan = new DecodePlan(CodecHeader.TryRead(source.Content.Span, isComplete: true)!, options);
            }

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
        PooledBitmap current = DecodeFile(source, out DecodedRows decoded);

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

        if (!decoded.IsComplete)
        {
            current.IsIncomplete = true;
            current.DecodedRect = _plan.Seen(current.DecodedRect.Size, decoded.Count, decoded.IsBottomUp);
        }

        return current;
    }

    private PooledBitmap DecodeFile(EncodedPicture source, out DecodedRows decoded)
    {
        UnendedJpeg? unended = _plan.Format == SKEncodedImageFormat.Jpeg ? JpegScans.FindMissingEnd(source.Content.Span) : null;
        if (unended is { At: int end })
        {
            source.MakeRoom(end, UnendedJpeg.LongestEnd);
        }

        bool isEndedHere = _plan.Format == SKEncodedImageFormat.Gif && GifEnd.IsMissing(source.Content.Span);
        if (isEndedHere)
        {
            int length = source.Content.Length;
            source.MakeRoom(length, GifEnd.Length);
            source.ReplaceEnd(length, static memory => GifEnd.Write(memory.Span));
        }

        bool isLast = _plan.Scaled is null && !_plan.IsTurnedAtEnd;
        bool isInStrips = _plan.IsInStrips || unended is not null;
        (PooledBitmap bitmap, PixelMemory pixels) =
            Create(_plan.IsInStrips ? Upright(_plan.Decoded) : _plan.Decoded, isLast, _plan.DecodedMemory);
        try
        {
            using IMemoryOwner<byte>? strip = isInStrips
                ? _allocator.Allocate<byte>(_plan.Decoded.RowBytes * DecodePlan.RowsOfStrip, _plan.DecodedMemory) : null;
            using IDisposable external = _allocator.TrackExternalMemory(_plan.CodecBytes);
            decoded = unended is { } jpeg ? DecodeUnended(source, jpeg, strip!, pixels)
                : strip is not null ? DecodeStrips(source, strip, pixels)
                : DecodeWhole(source, pixels, isEndedHere);
            return decoded.IsComplete || (_plan.AcceptsIncomplete && decoded.Count > 0)
                ? bitmap
                : throw Codec.Failure(SKCodecResult.IncompleteInput);
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

    private DecodedRows DecodeWhole(EncodedPicture source, PixelMemory pixels, bool isEndedHere)
    {
        SKImageInfo info = _plan.Decoded;
        using MemoryHandle pin = source.Content.Pin();
        using Codec codec = Open(pin, source.Content.Length);
        ThrowIfFrameIsMissing(codec.Native);
        SKCodecResult result = codec.Native.GetPixels(info, pixels.Address, pixels.RowBytes, new SKCodecOptions(_plan.FrameIndex));
        if (result != SKCodecResult.IncompleteInput && !(result == SKCodecResult.ErrorInInput && isEndedHere))
        {
            ThrowUnlessSuccess(result);
            return new DecodedRows(info.Height, IsComplete: true);
        }

        bool isBottomUp = codec.Native.ScanlineOrder == SKCodecScanlineOrder.BottomUp;
        int rows = CountWritten(pixels, info.Height, isBottomUp);
        if (_plan.Format == SKEncodedImageFormat.Gif && rows < info.Height)
        {
            // The file may end within a row, and the decoder writes its beginning.
            rows = Math.Max(rows - 1, 0);
        }

        return new DecodedRows(rows, IsComplete: false, isBottomUp);
    }

    // Skia fills the rows that are missing with zeros.
    private static unsafe int CountWritten(PixelMemory pixels, int height, bool isBottomUp)
    {
        for (int count = height; count > 0; count--)
        {
            int y = isBottomUp ? height - count : count - 1;
            ReadOnlySpan<byte> row = new((byte*)pixels.Address + ((nint)y * pixels.RowBytes), pixels.RowBytes);
            if (row.ContainsAnyExcept((byte)0))
            {
                return count;
            }
        }

        return 0;
    }

    private void ThrowIfFrameIsMissing(SKCodec codec)
    {
        // A picture that is not animated reports no frames.
        if (_plan.FrameIndex > 0 && Math.Max(codec.FrameCount, 1) is int frames && _plan.FrameIndex >= frames)
        {
            throw new ArgumentOutOfRangeException(
                nameof(SKBitmapDecodeOptions.FrameIndex), _plan.FrameIndex, $"The file has {frames} frame(s), counted from 0.");
        }
    }

    private DecodedRows DecodeStrips(EncodedPicture source, IMemoryOwner<byte> strip, PixelMemory pixels)
    {
        int height = _plan.Decoded.Height;
        int count = Decode(source, strip, (rows, y, count) => Place(rows, y, count, pixels));
        return new DecodedRows(count, IsComplete: count == height);
    }

    private DecodedRows DecodeUnended(EncodedPicture source, UnendedJpeg jpeg, IMemoryOwner<byte> strip, PixelMemory pixels)
    {
        SKImageInfo info = _plan.Decoded;
        int[] hashes = new int[info.Height];
        source.ReplaceEnd(jpeg.At, static memory => UnendedJpeg.WriteEnd(memory.Span));
        int count = Decode(source, strip, (rows, y, count) =>
        {
            for (int i = 0; i < count; i++)
            {
                hashes[y + i] = HashOf(rows, i, info.RowBytes);
            }

            Place(rows, y, count, pixels);
        });

        source.ReplaceEnd(jpeg.At, memory => jpeg.WriteContinuation(memory.Span));
        int same = 0;
        int compared = Decode(source, strip, (rows, y, count) =>
        {
            for (int i = 0; i < count && same == y + i && HashOf(rows, i, info.RowBytes) == hashes[same]; i++)
            {
                same++;
            }
        });
        same = Math.Min(same, Math.Min(count, compared));

        // After the first scan each row is there, though coarse.
        return new DecodedRows(
            jpeg.IsInFirstScan ? same : count, IsComplete: jpeg.HasAllScans && same == info.Height);
    }

    private static unsafe int HashOf(nint rows, int row, int rowBytes)
    {
        HashCode hash = default;
        hash.AddBytes(new ReadOnlySpan<byte>((byte*)rows + ((nint)row * rowBytes), rowBytes));
        return hash.ToHashCode();
    }

    private void Place(nint rows, int y, int count, PixelMemory pixels) =>
        Turn.Copy(rows, _plan.Decoded.RowBytes, y, count, _plan.Decoded, _plan.Origin, pixels);

    // Calls back for each strip with its address, its first row and the number of its rows. Returns how many rows there were.
    private unsafe int Decode(EncodedPicture source, IMemoryOwner<byte> strip, Action<nint, int, int> use)
    {
        using MemoryHandle sourcePin = source.Content.Pin();
        using Codec codec = Open(sourcePin, source.Content.Length);
        using MemoryHandle pin = strip.Memory.Pin();
        nint rows = (nint)pin.Pointer;
        SKImageInfo info = _plan.Decoded;
        ThrowIfFrameIsMissing(codec.Native);
        ThrowUnlessSuccess(codec.Native.StartScanlineDecode(info));
        for (int y = 0; y < info.Height; y += DecodePlan.RowsOfStrip)
        {
            int wanted = Math.Min(DecodePlan.RowsOfStrip, info.Height - y);
            int count = codec.Native.GetScanlines(rows, wanted, info.RowBytes);
            use(rows, y, count);
            if (count < wanted)
            {
                return y + count;
            }
        }

        return info.Height;
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
            (PooledBitmap Bitmap, PixelMemory Pixels) next = Create(info, isLast, AllocationOptions.None);
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
    private (PooledBitmap Bitmap, PixelMemory Pixels) Create(SKImageInfo info, bool isLast, AllocationOptions options)
    {
        PixelMemory pixels = PixelMemory.Allocate(_allocator, info, options);
        return (PooledBitmap.Create(_allocator, info, pixels, isLast ? _reservation : null), pixels);
    }

    private SKImageInfo Upright(SKImageInfo stored) =>
        DecodePlan.IsTurned(_plan.Origin) ? stored.WithSize(stored.Height, stored.Width) : stored;

    private readonly record struct DecodedRows(int Count, bool IsComplete, bool IsBottomUp = false);
}
