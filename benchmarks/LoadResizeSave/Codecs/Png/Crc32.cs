namespace LoadResizeSave.Codecs.Png;

/// <summary>The checksum of PNG chunks (ISO 3309, polynomial 0xEDB88320), eight bytes a step.</summary>
internal static class Crc32
{
    private static readonly uint[][] s_tables = MakeTables();

    public static uint Append(uint crc, ReadOnlySpan<byte> data)
    {
        uint[][] t = s_tables;
        crc = ~crc;
        while (data.Length >= 8)
        {
            uint low = BinaryPrimitives.ReadUInt32LittleEndian(data) ^ crc;
            uint high = BinaryPrimitives.ReadUInt32LittleEndian(data[4..]);
            crc = t[7][(byte)low] ^ t[6][(byte)(low >> 8)] ^ t[5][(byte)(low >> 16)] ^ t[4][low >> 24]
                ^ t[3][(byte)high] ^ t[2][(byte)(high >> 8)] ^ t[1][(byte)(high >> 16)] ^ t[0][high >> 24];
            data = data[8..];
        }

        foreach (byte value in data)
        {
            crc = t[0][(byte)(crc ^ value)] ^ (crc >> 8);
        }

        return ~crc;
    }

    private static uint[][] MakeTables()
    {
        uint[][] tables = new uint[8][];
        for (int i = 0; i < tables.Length; i++)
        {
            tables[i] = new uint[256];
        }

        for (uint n = 0; n < 256; n++)
        {
            uint crc = n;
            for (int bit = 0; bit < 8; bit++)
            {
                crc = (crc & 1) != 0 ? (crc >> 1) ^ 0xEDB88320u : crc >> 1;
            }

            tables[0][n] = crc;
        }

        // Table i is what a byte does to the checksum when i zero bytes follow it.
        for (int i = 1; i < tables.Length; i++)
        {
            for (int n = 0; n < 256; n++)
            {
                uint before = tables[i - 1][n];
                tables[i][n] = tables[0][(byte)before] ^ (before >> 8);
            }
        }

        return tables;
    }
}
