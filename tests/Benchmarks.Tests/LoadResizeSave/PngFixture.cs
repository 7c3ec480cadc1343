using System.Buffers.Binary;
using System.IO.Compression;
using System.Text;

namespace LoadResizeSave.Tests;

/// <summary>
/// Writes PNGs of every kind, good and bad. It shares no code with the program: bits are set one by one, the checksum is taken bit by bit.
/// </summary>
internal sealed class PngFixture
{
    private readonly MemoryStream _file = new();

    public PngFixture(int width, int height, int bitDepth, int colourType)
    {
        (Width, Height, BitDepth, ColourType) = (width, height, bitDepth, colourType);
        _file.Write([0x89, (byte)'P', (byte)'N', (byte)'G', 13, 10, 26, 10]);
    }

    public int Width { get; }

    public int Height { get; }

    public int BitDepth { get; }

    public int ColourType { get; }

    public int Channels => ColourType switch { 0 or 3 => 1, 4 => 2, 2 => 3, _ => 4 };

    public byte[] ToArray() => _file.ToArray();

    public PngFixture Header(byte compression = 0, byte filter = 0, byte interlace = 0)
    {
        byte[] data = new byte[13];
        BinaryPrimitives.WriteInt32BigEndian(data, Width);
        BinaryPrimitives.WriteInt32BigEndian(data.AsSpan(4), Height);
        (data[8], data[9], data[10], data[11], data[12]) = ((byte)BitDepth, (byte)ColourType, compression, filter, interlace);
        return Chunk("IHDR", data);
    }

    /// <summary>Writes a chunk; <paramref name="crcError"/> is what its checksum is wrong by.</summary>
    public PngFixture Chunk(string type, byte[] data, uint crcError = 0)
    {
        Span<byte> number = stackalloc byte[4];
        BinaryPrimitives.WriteInt32BigEndian(number, data.Length);
        _file.Write(number);
        byte[] body = [.. Encoding.ASCII.GetBytes(type), .. data];
        _file.Write(body);
        BinaryPrimitives.WriteUInt32BigEndian(number, Crc(body) ^ crcError);
        _file.Write(number);
        return this;
    }

    /// <summary>
    /// Writes the pixels that <paramref name="sample"/> gives by column, row and channel, in chunks of <paramref name="chunkLength"/>,
    /// with all five filters in turn.
    /// </summary>
    public PngFixture Pixels(Func<int, int, int, int> sample, int chunkLength = int.MaxValue)
    {
        using MemoryStream compressed = new();
        using (ZLibStream zlib = new(compressed, CompressionLevel.Optimal, leaveOpen: true))
        {
            zlib.Write(Filtered(sample));
        }

        byte[] all = compressed.ToArray();
        for (int start = 0; start < all.Length; start += Math.Min(chunkLength, all.Length))
        {
            Chunk("IDAT", all[start..Math.Min(all.Length, (int)Math.Min(int.MaxValue, (long)start + chunkLength))]);
        }

        return this;
    }

    public PngFixture End() => Chunk("IEND", []);

    private static uint Crc(byte[] data)
    {
        uint crc = uint.MaxValue;
        foreach (byte value in data)
        {
            crc ^= value;
            for (int bit = 0; bit < 8; bit++)
            {
                crc = (crc & 1) == 0 ? crc >> 1 : (crc >> 1) ^ 0xEDB88320;
            }
        }

        return ~crc;
    }

    private static int Paeth(int a, int b, int c)
    {
        int p = a + b - c;
        (int pa, int pb, int pc) = (Math.Abs(p - a), Math.Abs(p - b), Math.Abs(p - c));
        return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
    }

    private byte[] Filtered(Func<int, int, int, int> sample)
    {
        using MemoryStream rows = new();
        byte[] prior = new byte[((Width * Channels * BitDepth) + 7) / 8];
        for (int y = 0; y < Height; y++)
        {
            byte[] row = new byte[prior.Length];
            for (int i = 0; i < Width * Channels; i++)
            {
                SetBits(row, i * BitDepth, sample(i / Channels, y, i % Channels));
            }

            WriteFiltered(rows, y % 5, row, prior);
            prior = row;
        }

        return rows.ToArray();
    }

    private void SetBits(byte[] row, int position, int value)
    {
        for (int bit = 0; bit < BitDepth; bit++)
        {
            if ((value >> (BitDepth - 1 - bit) & 1) != 0)
            {
                row[(position + bit) / 8] |= (byte)(0x80 >> ((position + bit) % 8));
            }
        }
    }

    private void WriteFiltered(Stream rows, int filter, byte[] row, byte[] prior)
    {
        int distance = Math.Max(1, Channels * BitDepth / 8);
        rows.WriteByte((byte)filter);
        for (int i = 0; i < row.Length; i++)
        {
            int a = i < distance ? 0 : row[i - distance];
            int b = prior[i];
            int c = i < distance ? 0 : prior[i - distance];
            int prediction = filter switch { 0 => 0, 1 => a, 2 => b, 3 => (a + b) / 2, _ => Paeth(a, b, c) };
            rows.WriteByte((byte)(row[i] - prediction));
        }
    }
}
