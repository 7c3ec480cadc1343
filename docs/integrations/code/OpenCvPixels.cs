using System;
using Allocator;
using OpenCvSharp;

namespace Integrations;

/// <summary>
/// Pooled pixels as an OpenCV matrix, without a copy. OpenCV makes no call when it is done, so both are held here and disposed together.
/// </summary>
public sealed class OpenCvPixels : IDisposable
{
    private readonly NativePixels _pixels;

    private OpenCvPixels(NativePixels pixels, Mat mat)
    {
        _pixels = pixels;
        Mat = mat;
    }

    /// <summary>
    /// Gets the matrix. What is made of it by reference, a region or a row, must not be used after <see cref="Dispose"/>.
    /// </summary>
    public Mat Mat { get; }

    /// <summary>Makes a matrix of contiguous pixels of 4 bytes. They are the result's from now on.</summary>
    [return: OwnedBuffer]
    public static OpenCvPixels From(PixelBuffer<uint> buffer)
    {
        NativePixels pixels = buffer.HandOff();
        try
        {
            return new OpenCvPixels(
                pixels, Mat.FromPixelData(pixels.Height, pixels.Width, MatType.CV_8UC4, pixels.Pointer, pixels.RowBytes));
        }
        catch
        {
            pixels.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Returns the pixels of a matrix of type <c>CV_8UC4</c> as a pixel buffer. Disposing that disposes the matrix.
    /// </summary>
    [return: OwnedBuffer]
    public static PixelBuffer<uint> ToPixelBuffer(Mat mat, MemoryAllocator allocator)
    {
        // Halves of pixels of 8 bytes would be taken for pixels.
        if (mat.Type() != MatType.CV_8UC4)
        {
            throw new ArgumentException("The matrix is not of type CV_8UC4.", nameof(mat));
        }

        return ToPixelBuffer<uint>(mat, allocator);
    }

    /// <summary>
    /// Returns the pixels of a matrix, or of a region of one, as a pixel buffer, whatever its step. Disposing that disposes the matrix.
    /// </summary>
    /// <typeparam name="TPixel">A type of the size of an element: 3 bytes for <c>CV_8UC3</c>.</typeparam>
    [return: OwnedBuffer]
    public static PixelBuffer<TPixel> ToPixelBuffer<TPixel>(Mat mat, MemoryAllocator allocator)
        where TPixel : unmanaged =>
        mat.ElemSize() == System.Runtime.CompilerServices.Unsafe.SizeOf<TPixel>()
            ? allocator.WrapPixels<TPixel>(mat.Data, mat.Cols, mat.Rows, checked((int)mat.Step()), mat.Dispose)
            : throw new ArgumentException($"The elements of the matrix have {mat.ElemSize()} bytes.", nameof(mat));

    /// <summary>Disposes the matrix first, and then what it points to.</summary>
    public void Dispose()
    {
        Mat.Dispose();
        _pixels.Dispose();
    }
}
