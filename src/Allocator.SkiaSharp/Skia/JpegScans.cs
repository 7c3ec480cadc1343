using System.Buffers.Binary;

namespace Allocator.Skia;

/// <summary>Reads the scans of a whole JPEG, and finds whether the file has all of them.</summary>
internal ref struct JpegScans
{
    private const int SizeOfBlock = 8;
    private const int MostComponents = 4;

    private const byte RestartInterval = 0xDD;
    private const byte EndOfImage = 0xD9;
    private const byte StartOfScan = 0xDA;
    private const byte HuffmanTables = 0xC4;
    private const byte ArithmeticReset = 0xC8;
    private const byte ArithmeticTables = 0xCC;

    private readonly ReadOnlySpan<byte> _file;
    private ReadOnlySpan<byte> _frame;
    private int _restartInterval;
    private bool _isProgressive;

    // Behind the marker of the start of the image.
    private int _at = 2;

    private JpegScans(ReadOnlySpan<byte> file) => _file = file;

    /// <summary>Returns what a file without an end marker has, even if other data follows; null if it has the marker.</summary>
    public static UnendedJpeg? FindMissingEnd(ReadOnlySpan<byte> file)
    {
        JpegScans reader = new(file);

        // The lowest bit of each coefficient that is still to come: a scan brings some coefficients of some components down to a bit.
        Span<byte> missing = stackalloc byte[MostComponents * SizeOfBlock * SizeOfBlock];
        missing.Fill(byte.MaxValue);
        UnendedJpeg last = default;
        for (int scans = 0; ; scans++)
        {
            if (!reader.ReadToScan(out ReadOnlySpan<byte> scan))
            {
                return reader.IsAtEndOfImage || scans == 0 ? null : last with { At = reader._at };
            }

            reader.Subtract(scan, missing);
            int components = reader._frame.Length > 5 ? Math.Min((int)reader._frame[5], MostComponents) : MostComponents;
            bool hasAllScans = missing[..(components * SizeOfBlock * SizeOfBlock)].IndexOfAnyExcept((byte)0) < 0;
            int restarts = reader.SkipScan();
            last = new UnendedJpeg(reader._at, hasAllScans, scans == 0, restarts < reader.RestartsOf(scan) ? restarts & 7 : null);

            // What follows the last scan is the end, or no part of the picture.
            if (hasAllScans)
            {
                return reader.IsAtEndOfImage ? null : last;
            }
        }
    }

    private readonly bool IsAtEndOfImage => _at + 1 < _file.Length && _file[_at] == 0xFF && _file[_at + 1] == EndOfImage;

    // Stops behind the header of a scan; or else at the end of the image, or at the segment that the file ends in.
    private bool ReadToScan(out ReadOnlySpan<byte> scan)
    {
        scan = default;
        while (_at + 4 <= _file.Length && !IsAtEndOfImage)
        {
            byte marker = _file[_at + 1];
            if (_file[_at] != 0xFF || marker is 0xFF or 0)
            {
                // Fill bytes may precede a marker.
                _at++;
                continue;
            }

            int end = _at + 2 + Math.Max((int)BinaryPrimitives.ReadUInt16BigEndian(_file[(_at + 2)..]), 2);
            ReadOnlySpan<byte> segment = _file[(_at + 4)..Math.Min(_file.Length, end)];
            if (marker is >= 0xC0 and <= 0xCF and not (HuffmanTables or ArithmeticReset or ArithmeticTables))
            {
                _frame = segment;
                _isProgressive = marker is 0xC2 or 0xC6 or 0xCA or 0xCE;
            }
            else if (marker == RestartInterval && segment.Length >= 2)
            {
                _restartInterval = BinaryPrimitives.ReadUInt16BigEndian(segment);
            }

            if (end > _file.Length)
            {
                break;
            }

            _at = end;
            if (marker == StartOfScan)
            {
                scan = segment;
                return true;
            }
        }

        return false;
    }

    // Stops at the marker behind the scan, or at the end of the file. Returns how many restart markers it passed.
    private int SkipScan()
    {
        int restarts = 0;
        while (true)
        {
            int next = _file[_at..].IndexOf((byte)0xFF);
            if (next < 0 || _at + next + 1 >= _file.Length)
            {
                _at = next < 0 ? _file.Length : _at + next;
                return restarts;
            }

            _at += next;
            byte marker = _file[_at + 1];
            if (marker is not (0 or 0xFF or (>= 0xD0 and <= 0xD7)))
            {
                return restarts;
            }

            restarts += marker is 0 or 0xFF ? 0 : 1;
            _at += marker == 0xFF ? 1 : 2;
        }
    }

    // The number of components; of each its name and tables; then the first and last coefficient, and the bits that came and come.
    private readonly void Subtract(ReadOnlySpan<byte> scan, Span<byte> missing)
    {
        if (scan.Length < 1 || scan.Length < 4 + (scan[0] * 2))
        {
            return;
        }

        ReadOnlySpan<byte> selection = scan[(1 + (scan[0] * 2))..];
        int first = _isProgressive ? Math.Min((int)selection[0], 63) : 0;
        int last = _isProgressive ? Math.Clamp((int)selection[1], first, 63) : 63;
        byte bit = (byte)(_isProgressive ? selection[2] & 15 : 0);
        for (int i = 0; i < scan[0]; i++)
        {
            int component = IndexOf(scan[1 + (i * 2)]);
            if (component >= 0)
            {
                missing.Slice((component * SizeOfBlock * SizeOfBlock) + first, last - first + 1).Fill(bit);
            }
        }
    }

    private readonly int IndexOf(byte name)
    {
        for (int i = 0; i < MostComponents && 6 + (i * 3) < _frame.Length; i++)
        {
            if (_frame[6 + (i * 3)] == name)
            {
                return i;
            }
        }

        return -1;
    }

    // How many restart markers a scan has within its data.
    private readonly long RestartsOf(ReadOnlySpan<byte> scan)
    {
        if (_restartInterval == 0 || scan.Length < 2 || !TryReadFrame(out Frame frame))
        {
            return 0;
        }

        (long across, long down) = (frame.UnitsAcross, frame.UnitsDown);
        if (scan[0] == 1 && IndexOf(scan[1]) is >= 0 and int component)
        {
            // A unit is a block of that component.
            byte sampling = _frame[6 + (component * 3) + 1];
            across = Divide((long)frame.Width * (sampling >> 4), SizeOfBlock * frame.MostAcross);
            down = Divide((long)frame.Height * (sampling & 15), SizeOfBlock * frame.MostDown);
        }

        return Math.Max(Divide(across * down, _restartInterval) - 1, 0);
    }

    // The depth, height and width; then for each component its name, its sampling factors across and down, and its table.
    private readonly bool TryReadFrame(out Frame read)
    {
        const int beginning = 6;
        const int bytesOfComponent = 3;
        if (_frame.Length < beginning || _frame.Length < beginning + (_frame[5] * bytesOfComponent))
        {
            read = default;
            return false;
        }

        int mostAcross = 1;
        int mostDown = 1;
        for (int i = 0; i < _frame[5]; i++)
        {
            byte sampling = _frame[beginning + (i * bytesOfComponent) + 1];
            mostAcross = Math.Max(mostAcross, sampling >> 4);
            mostDown = Math.Max(mostDown, sampling & 15);
        }

        read = new Frame(
            BinaryPrimitives.ReadUInt16BigEndian(_frame[3..]), BinaryPrimitives.ReadUInt16BigEndian(_frame[1..]),
            mostAcross, mostDown);
        return true;
    }

    private static long Divide(long length, long by) => (length + by - 1) / by;

    private readonly record struct Frame(int Width, int Height, int MostAcross, int MostDown)
    {
        public long UnitsAcross => Divide(Width, SizeOfBlock * MostAcross);

        public long UnitsDown => Divide(Height, SizeOfBlock * MostDown);
    }
}
