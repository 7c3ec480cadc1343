namespace LoadResizeSave.Codecs.Png;

/// <summary>
/// Turns rows of any colour type and depth into <see cref="Rgb24"/>: gray is spread, 16 bits are rounded to 8, and what is transparent, by
/// an alpha channel or a transparency chunk, is composited on white. Profiles and gamma are ignored.
/// </summary>
internal sealed class PngRowConverter
{
    private readonly PngHeader _header;
    private readonly Rgb24[]? _table;
    private readonly ushort[]? _transparentSamples;

    public PngRowConverter(PngMetadata metadata)
    {
        _header = metadata.Header;
        ReadOnlySpan<byte> transparency = metadata.Transparency.Span;
        if (_header.ColourType == PngColourType.Palette)
        {
            _table = PaletteTable(metadata.Palette.Span, transparency);
        }
        else if (_header is { ColourType: PngColourType.Gray, BitDepth: <= 8 })
        {
            _table = GrayTable(_header.BitDepth, transparency);
        }
        else if (!transparency.IsEmpty)
        {
            _transparentSamples = new ushort[transparency.Length / 2];
            for (int i = 0; i < _transparentSamples.Length; i++)
            {
                _transparentSamples[i] = BinaryPrimitives.ReadUInt16BigEndian(transparency[(2 * i)..]);
            }
        }
    }

    public void Convert(ReadOnlySpan<byte> row, Span<Rgb24> pixels)
    {
        if (_table is not null)
        {
            LookUp(row, pixels, _table, _header.BitDepth);
        }
        else if (_header is { ColourType: PngColourType.Rgb, BitDepth: 8 } && _transparentSamples is null)
        {
            MemoryMarshal.Cast<byte, Rgb24>(row)[..pixels.Length].CopyTo(pixels);
        }
        else
        {
            ConvertSamples(row, pixels);
        }
    }

    private static void LookUp(ReadOnlySpan<byte> row, Span<Rgb24> pixels, Rgb24[] table, int depth)
    {
        if (depth == 8)
        {
            for (int x = 0; x < pixels.Length; x++)
            {
                pixels[x] = table[row[x]];
            }

            return;
        }

        int mask = (1 << depth) - 1;
        for (int x = 0; x < pixels.Length; x++)
        {
            int bit = x * depth;
            pixels[x] = table[(row[bit >> 3] >> (8 - depth - (bit & 7))) & mask];
        }
    }

    private static Rgb24[] PaletteTable(ReadOnlySpan<byte> palette, ReadOnlySpan<byte> alpha)
    {
        // Numbers beyond the palette are an error of the file that many decoders show as black; so does this one.
        Rgb24[] table = new Rgb24[256];
        for (int i = 0; i < palette.Length / 3; i++)
        {
            Rgb24 colour = new(palette[3 * i], palette[(3 * i) + 1], palette[(3 * i) + 2]);
            table[i] = OnWhite(colour, i < alpha.Length ? alpha[i] : (byte)255);
        }

        return table;
    }

    private static Rgb24[] GrayTable(int depth, ReadOnlySpan<byte> transparency)
    {
        Rgb24[] table = new Rgb24[256];
        int maximum = (1 << depth) - 1;
        for (int i = 0; i <= maximum; i++)
        {
            byte value = (byte)(i * 255 / maximum);
            table[i] = new Rgb24(value, value, value);
        }

        if (!transparency.IsEmpty)
        {
            table[BinaryPrimitives.ReadUInt16BigEndian(transparency) & maximum] = Rgb24.White;
        }

        return table;
    }

    private static Rgb24 OnWhite(Rgb24 colour, byte alpha)
        => alpha == 255 ? colour : new Rgb24(OnWhite(colour.R, alpha), OnWhite(colour.G, alpha), OnWhite(colour.B, alpha));

    private static byte OnWhite(int value, int alpha) => (byte)(((value * alpha) + (255 * (255 - alpha)) + 127) / 255);

    private static byte Round(ushort sample) => (byte)(((sample * 255) + 32895) >> 16);

    private void ConvertSamples(ReadOnlySpan<byte> row, Span<Rgb24> pixels)
    {
        int channels = _header.Channels;
        bool wide = _header.BitDepth == 16;
        bool gray = channels <= 2;
        bool hasAlpha = channels is 2 or 4;
        Span<ushort> samples = stackalloc ushort[4];
        samples = samples[..channels];
        for (int x = 0; x < pixels.Length; x++)
        {
            for (int i = 0; i < samples.Length; i++)
            {
                int index = (x * channels) + i;
                samples[i] = wide ? BinaryPrimitives.ReadUInt16BigEndian(row[(2 * index)..]) : row[index];
            }

            if (_transparentSamples is not null && samples.SequenceEqual(_transparentSamples))
            {
                pixels[x] = Rgb24.White;
                continue;
            }

            if (wide)
            {
                foreach (ref ushort sample in samples)
                {
                    sample = Round(sample);
                }
            }

            Rgb24 colour = gray
                ? new Rgb24((byte)samples[0], (byte)samples[0], (byte)samples[0])
                : new Rgb24((byte)samples[0], (byte)samples[1], (byte)samples[2]);
            pixels[x] = OnWhite(colour, hasAlpha ? (byte)samples[^1] : (byte)255);
        }
    }
}
