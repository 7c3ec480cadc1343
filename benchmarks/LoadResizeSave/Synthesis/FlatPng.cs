namespace LoadResizeSave.Synthesis;

/// <summary>Writes PNGs of one colour: small files whose header claims, or that unpack to, very many pixels.</summary>
internal static class FlatPng
{
    private const uint Polynomial = 0xEDB88320;

    /// <summary>Returns a file whose header claims <paramref name="side"/> pixels across and down, and that has the first rows.</summary>
    public static byte[] Make(int side, int rows)
    {
        using MemoryStream file = new();
        file.Write([0x89, (byte)'P', (byte)'N', (byte)'G', 13, 10, 26, 10]);

        // Width, height, and one bit a pixel.
        byte[] header = new byte[13];
        BinaryPrimitives.WriteInt32BigEndian(header, side);
        BinaryPrimitives.WriteInt32BigEndian(header.AsSpan(4), side);
        header[8] = 1;
        WriteChunk(file, "IHDR"u8, header);
        using MemoryStream packed = new();
        using (ZLibStream zlib = new(packed, CompressionLevel.Optimal, leaveOpen: true))
        {
            byte[] row = new byte[1 + ((side + 7) / 8)];
            for (int y = 0; y < rows; y++)
            {
                zlib.Write(row);
            }
        }

        WriteChunk(file, "IDAT"u8, packed.ToArray());
        WriteChunk(file, "IEND"u8, []);
        return file.ToArray();
    }

    private static void WriteChunk(Stream file, ReadOnlySpan<byte> type, ReadOnlySpan<byte> data)
    {
        Span<byte> number = stackalloc byte[4];
        BinaryPrimitives.WriteInt32BigEndian(number, data.Length);
        file.Write(number);
        byte[] body = [.. type, .. data];
        file.Write(body);
        uint crc = uint.MaxValue;
        foreach (byte value in body)
        {
            crc ^= value;
            for (int bit = 0; bit < 8; bit++)
            {
                crc = (crc & 1) == 0 ? crc >> 1 : (crc >> 1) ^ Polynomial;
            }
        }

        BinaryPrimitives.WriteUInt32BigEndian(number, ~crc);
        file.Write(number);
    }
}
