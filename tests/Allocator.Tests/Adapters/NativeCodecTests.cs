using System.Buffers.Binary;
using System.Diagnostics;
using System.IO.Compression;
using Allocator.Integrations.Native;

namespace Allocator.Tests.Adapters;

/// <summary>
/// Real decoders allocate by the callbacks, with the code of <c>docs/integrations/code/native</c>: their memory is in the statistics and
/// under the budget, a refusal at any point is an error of the decoder's, and nothing stays.
/// </summary>
public class NativeCodecTests
{
    private const int Width = 1080;
    private const int Height = 1920;

    // The picture was drawn by a program and compressed by cjxl 0.7 and aomenc 3.6.
    private static readonly string s_pictures = Repository.PathTo("tests", "Allocator.Tests", "Adapters", "Pictures");

    public static TheoryData<string> Codecs => ["zlib", "libjxl", "dav1d", "libpng", "libpng, a picture that fits in an array"];

    [SkippableTheory]
    [MemberData(nameof(Codecs))]
    public void Decode_WithTheCallbacks_CountsItsMemoryAndLeaksNone(string codec)
    {
        Decoder decoder = Decoder.Create(codec);
        using MemoryAllocator allocator = MemoryAllocator.Create();
        long before = allocator.GetStatistics().Rents;
        using (NativeAllocationCallbacks callbacks = allocator.CreateNativeCallbacks())
        {
            decoder.Decode(allocator, callbacks);

            Assert.Equal(0, callbacks.OutstandingBytes);
        }

        Assert.True(allocator.GetStatistics().Rents > before, "The decoder did not allocate here.");
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [SkippableTheory]
    [MemberData(nameof(Codecs))]
    public void Decode_MemoryRefusedAtAnyPoint_FailsCleanlyAndLeaksNone(string codec)
    {
        Decoder decoder = Decoder.Create(codec);
        int refusals = 0;
        bool succeeded = false;

        // Less and less of the budget is free, until nothing is refused: each step is another point of the decoder's way.
        for (int free = 0; !succeeded; free += 64 * 1024)
        {
            Assert.True(free < 256 * 1024 * 1024, "The decoder fails with room enough.");
            using MemoryAllocator allocator = MemoryAllocator.Create(
                new MemoryAllocatorOptions { MemoryBudgetMegabytes = 256, BudgetTimeout = TimeSpan.Zero });
            using (allocator.TrackExternalMemory((256 * 1024 * 1024) - free))
            using (NativeAllocationCallbacks callbacks = allocator.CreateNativeCallbacks())
            {
                try
                {
                    decoder.Decode(allocator, callbacks);
                    succeeded = true;
                }
                catch (Exception refusal) when (refusal is OutOfMemoryException or InvalidDataException or MemoryLimitExceededException)
                {
                    refusals++;
                }

                Assert.Equal(0, callbacks.OutstandingBytes);
                Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
            }

            Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
        }

        Assert.True(refusals > 0, "Nothing was refused.");
    }

    private static int LightOf(uint rgba) => (int)((rgba & 0xFF) + ((rgba >> 8) & 0xFF) + ((rgba >> 16) & 0xFF)) / 3;

    private sealed class Decoder
    {
        // Beside the tests' assembly, where the loader looks. Empty, or why there is none.
        private static readonly Lazy<string> s_shim = new(static () =>
        {
            string script = Repository.PathTo("docs", "integrations", "code", "native", "build-png-shim.sh");
            using Process build = Process.Start(new ProcessStartInfo("bash", [script, AppContext.BaseDirectory])
            {
                RedirectStandardError = true,
            })!;
            string complaints = build.StandardError.ReadToEnd();
            build.WaitForExit();
            Assert.True(build.ExitCode == 0 || complaints.Contains("png.h", StringComparison.Ordinal), complaints);
            return build.ExitCode == 0 ? string.Empty : "libpng's headers are not installed (libpng-dev).";
        });

        private readonly Action<MemoryAllocator, NativeAllocationCallbacks> _decode;

        private Decoder(Action<MemoryAllocator, NativeAllocationCallbacks> decode) => _decode = decode;

        public static Decoder Create(string codec) => codec switch
        {
            "zlib" => CreateZlib(),
            "libjxl" => CreateJpegXl(),
            "dav1d" => CreateDav1d(),
            "libpng" => CreatePng(Width, Height),
            _ => CreatePng(100, 100),
        };

        public void Decode(MemoryAllocator allocator, NativeAllocationCallbacks callbacks) => _decode(allocator, callbacks);

        private static Decoder CreateZlib()
        {
            SkipWithout("libz.so.1", "zlib1g");
            byte[] content = Rows(Width, Height);
            byte[] packed = Pack(content);
            return new Decoder((_, callbacks) =>
            {
                byte[] result = new byte[content.Length];
                Assert.Equal(content.Length, Zlib.Inflate(packed, result, callbacks));
                Assert.Equal(content, result);
            });
        }

        private static Decoder CreateJpegXl()
        {
            SkipWithout("libjxl.so.0.7", "libjxl0.7");
            byte[] file = File.ReadAllBytes(Path.Combine(s_pictures, "photo.jxl"));
            return new Decoder((allocator, callbacks) =>
            {
                using PixelBuffer<uint> pixels = JpegXl.Decode(file, allocator, callbacks);
                Assert.Equal((Width, Height), (pixels.Width, pixels.Height));
                pixels.ProcessPixelRows(static rows => Assert.InRange(LightOf(rows.GetRowSpan(20)[20]), 40, 200));
            });
        }

        private static Decoder CreateDav1d()
        {
            SkipWithout("libdav1d.so.6", "libdav1d6");
            byte[] file = File.ReadAllBytes(Path.Combine(s_pictures, "photo.obu"));
            return new Decoder((_, callbacks) => Dav1d.DecodeFirst(file, callbacks, (width, height, luma, stride) =>
            {
                Assert.Equal((Width, Height), (width, height));
                Assert.True(callbacks.OutstandingBytes > Width * Height, "The picture lies elsewhere.");
                Assert.InRange(luma[(20 * stride) + 20], 40, 200);
            }));
        }

        private static Decoder CreatePng(int width, int height)
        {
            SkipWithout("libpng16.so.16", "libpng16-16");
            Skip.IfNot(s_shim.Value.Length == 0, s_shim.Value);
            byte[] content = Rows(width, height);
            byte[] file = WritePng(content, width, height);
            return new Decoder((allocator, callbacks) =>
            {
                using PixelBuffer<uint> pixels = Png.Decode(file, allocator, callbacks);
                Assert.Equal((width, height), (pixels.Width, pixels.Height));
                pixels.ProcessPixelRows(rows =>
                {
                    for (int y = 0; y < rows.Height; y++)
                    {
                        ReadOnlySpan<byte> expected = content.AsSpan((y * ((width * 3) + 1)) + 1, 3);
                        Span<uint> row = rows.GetRowSpan(y);
                        Assert.Equal([.. expected, 0xFF], MemoryMarshal.AsBytes(row).Slice(0, 4).ToArray());

                        // An array has no such alignment, and could have moved while libpng wrote to it.
                        Assert.Equal(0, AddressOf(row) % 64);
                    }
                });
            });
        }

        // Rows of a PNG: a byte for the filter, then RGB.
        private static byte[] Rows(int width, int height)
        {
            byte[] rows = new byte[height * ((width * 3) + 1)];
            new Random(1).NextBytes(rows);
            for (int y = 0; y < height; y++)
            {
                rows[y * ((width * 3) + 1)] = 0;
            }

            return rows;
        }

        private static unsafe nint AddressOf(Span<uint> row)
        {
            fixed (uint* first = row)
            {
                return (nint)first;
            }
        }

        private static byte[] Pack(byte[] content)
        {
            using MemoryStream packed = new();
            using (ZLibStream zlib = new(packed, CompressionLevel.Fastest))
            {
                zlib.Write(content);
            }

            return packed.ToArray();
        }

        private static byte[] WritePng(byte[] rows, int width, int height)
        {
            using MemoryStream file = new();
            file.Write([0x89, (byte)'P', (byte)'N', (byte)'G', 0x0D, 0x0A, 0x1A, 0x0A]);
            byte[] header = new byte[13];
            BinaryPrimitives.WriteInt32BigEndian(header, width);
            BinaryPrimitives.WriteInt32BigEndian(header.AsSpan(4), height);
            (header[8], header[9]) = (8, 2);
            WriteChunk(file, "IHDR"u8, header);
            WriteChunk(file, "IDAT"u8, Pack(rows));
            WriteChunk(file, "IEND"u8, []);
            return file.ToArray();
        }

        private static void WriteChunk(MemoryStream file, ReadOnlySpan<byte> type, byte[] content)
        {
            Span<byte> number = stackalloc byte[4];
            BinaryPrimitives.WriteInt32BigEndian(number, content.Length);
            file.Write(number);
            byte[] body = [.. type, .. content];
            file.Write(body);
            BinaryPrimitives.WriteUInt32BigEndian(number, Crc(body));
            file.Write(number);
        }

        private static uint Crc(ReadOnlySpan<byte> bytes)
        {
            uint crc = uint.MaxValue;
            foreach (byte value in bytes)
            {
                crc ^= value;
                for (int bit = 0; bit < 8; bit++)
                {
                    crc = (crc >> 1) ^ ((crc & 1) * 0xEDB88320u);
                }
            }

            return ~crc;
        }

        private static void SkipWithout(string library, string package) =>
            Skip.IfNot(NativeLibrary.TryLoad(library, out _), $"{library} is not installed ({package}).");
    }
}
