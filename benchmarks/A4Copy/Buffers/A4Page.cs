namespace A4Copy.Buffers;

/// <summary>The image that every test handles: an A4 page at 300 dots an inch, in colour.</summary>
internal static class A4Page
{
    /// <summary>The width, in pixels.</summary>
    public const int Width = 2480;

    /// <summary>The height, in pixels.</summary>
    public const int Height = 3508;

    /// <summary>The size, in bytes: 24 bits a pixel.</summary>
    public const int SizeInBytes = Width * Height * 3;
}
