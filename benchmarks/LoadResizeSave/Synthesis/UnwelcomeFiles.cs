using System.Buffers.Binary;
using LoadResizeSave.Codecs.Png;

namespace LoadResizeSave.Synthesis;

/// <summary>Makes files that must be refused, so that every run of the program shows that they are.</summary>
internal static class UnwelcomeFiles
{
    private const int ClaimedSide = 1_000_000;

    public static void Make(string folder)
    {
        using (FileStream bomb = File.Create(Path.Combine(folder, "hostile-header.png")))
        {
            Span<byte> header = stackalloc byte[PngHeader.Length];
            header.Clear();
            BinaryPrimitives.WriteInt32BigEndian(header, ClaimedSide);
            BinaryPrimitives.WriteInt32BigEndian(header[4..], ClaimedSide);
            header[8] = 8;
            header[9] = (byte)PngColourType.Rgb;
            bomb.Write(PngChunkReader.Signature);
            PngEncoder.WriteChunk(bomb, PngChunk.Header, header);
            PngEncoder.WriteChunk(bomb, PngChunk.End, []);
        }

        string smallest = Directory.EnumerateFiles(folder, "photograph-*").MinBy(path => new FileInfo(path).Length)!;
        byte[] whole = File.ReadAllBytes(smallest);
        File.WriteAllBytes(Path.Combine(folder, "cut-short" + Path.GetExtension(smallest)), whole[..(whole.Length / 3)]);
    }
}
