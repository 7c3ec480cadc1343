using System.Buffers;

namespace Allocator.AspNetCore.Admission;

/// <summary>Finds the size of a job in the body of its request: large and small pictures of one endpoint then learn apart.</summary>
internal static class UploadedPicture
{
    // The fields of a form before its first file are searched up to here.
    private const int LongestStart = 16 * 1024;

    // A header that is cut off is read up to 1 MiB: a hostile form must not have thousands of them read.
    private const int MostParts = 16;

    private static ReadOnlySpan<byte> EndOfPartHeaders => "\r\n\r\n"u8;

    /// <summary>
    /// Returns <see cref="PictureHeader.ExpectedBytes"/> of a body that is a picture, or of the first picture in a form; otherwise 1. The
    /// length of any other body says nothing about the need of its job.
    /// </summary>
    /// <param name="open">Opens a view of the body at an offset, up to a length.</param>
    /// <param name="isForm">Whether the body is a form with files.</param>
    public static long ExpectedBytes(Func<long, long?, BodyView> open, bool isForm)
    {
        if (!isForm)
        {
            return Read(open, 0) ?? 1;
        }

        byte[] start = ArrayPool<byte>.Shared.Rent(LongestStart);
        try
        {
            using BodyView body = open(0, null);
            int length = body.ReadAtLeast(start, LongestStart, throwOnEndOfStream: false);
            ReadOnlySpan<byte> left = start.AsSpan(0, length);
            long offset = 0;
            for (int part = 0, end; part < MostParts && (end = left.IndexOf(EndOfPartHeaders)) >= 0; part++)
            {
                offset += end + EndOfPartHeaders.Length;
                left = left[(end + EndOfPartHeaders.Length)..];
                if (Read(open, offset) is { } size)
                {
                    return size;
                }
            }

            return 1;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(start);
        }
    }

    /// <summary>As above, for a form that a middleware has read before, that of antiforgery for instance.</summary>
    public static long ExpectedBytes(IFormCollection form)
    {
        foreach (IFormFile file in form.Files.Take(MostParts))
        {
            using Stream stream = file.OpenReadStream();
            if (PictureHeader.TryRead(stream, out PictureHeader header))
            {
                return header.ExpectedBytes;
            }
        }

        return 1;
    }

    private static long? Read(Func<long, long?, BodyView> open, long offset)
    {
        using BodyView body = open(offset, null);
        return PictureHeader.TryRead(body, out PictureHeader header) ? header.ExpectedBytes : null;
    }
}
