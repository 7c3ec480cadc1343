namespace LoadResizeSave.Codecs.Png;

/// <summary>One chunk of a PNG whose checksum was found right.</summary>
internal readonly record struct PngChunk(uint Type, ReadOnlyMemory<byte> Data)
{
    public const uint Header = 0x49484452; // IHDR
    public const uint Palette = 0x504C5445; // PLTE
    public const uint Transparency = 0x74524E53; // tRNS
    public const uint ImageData = 0x49444154; // IDAT
    public const uint End = 0x49454E44; // IEND

    /// <summary>Gets whether a decoder that does not know this chunk must give up: its first letter is a capital.</summary>
    public bool IsCritical => (Type & 0x20000000) == 0;

    /// <summary>Gets the four letters of the type, and a question mark for each byte that is none.</summary>
    public string Name => string.Create(4, Type, static (text, type) =>
    {
        for (int i = 0; i < text.Length; i++)
        {
            char letter = (char)(byte)(type >> (24 - (8 * i)));
            text[i] = char.IsAsciiLetter(letter) ? letter : '?';
        }
    });
}
