namespace LoadResizeSave.Synthesis;

/// <summary>
/// A synthetic photograph: sky, sun and ranges of hills with texture and grain, so that codecs have about as much to do as with a real
/// one. The same seed gives the same picture.
/// </summary>
internal sealed class Landscape
{
    private const int Ranges = 5;

    private readonly uint _seed;
    private readonly int _width;
    private readonly int _height;
    private readonly int _grain;
    private readonly float[][] _skylines = new float[Ranges][];
    private readonly Noise[] _noise;
    private readonly float[] _texture;

    public Landscape(uint seed, int width, int height, int grain)
    {
        _seed = seed;
        _width = width;
        _height = height;
        _grain = grain;
        _texture = new float[width];
        _noise = [new(seed, width, 120), new(seed + 1, width, 30), new(seed + 2, width, 7)];
        for (int i = 0; i < Ranges; i++)
        {
            _skylines[i] = new float[width];
            float level = height * (0.4f + (0.12f * i));
            Array.Fill(_skylines[i], level);
            for (int cell = Math.Max(4, width / 3); cell >= 4; cell /= 3)
            {
                new Noise(seed + 17, width, cell).AddRow(i * 1000 * cell, 0.35f * Math.Min(cell, height / 3f), _skylines[i]);
            }
        }
    }

    /// <summary>
    /// Draws row <paramref name="y"/>: red, green, blue and alpha from the lowest byte on. Rows are independent, but a
    /// <see cref="Landscape"/> is for one thread.
    /// </summary>
    public void DrawRow(int y, Span<uint> row)
    {
        Array.Clear(_texture);
        _noise[0].AddRow(y, 14, _texture);
        _noise[1].AddRow(y, 9, _texture);
        _noise[2].AddRow(y, 6, _texture);
        for (int x = 0; x < row.Length; x++)
        {
            int range = Ranges - 1;
            while (range >= 0 && y < _skylines[range][x])
            {
                range--;
            }

            uint random = Hash(_seed, (uint)x, (uint)y);
            (float r, float g, float b) = range < 0 ? Sky(x, y) : Hill(range, y - _skylines[range][x]);
            float texture = _texture[x] * (range < 0 ? 0.25f : 1f);
            row[x] = 0xFF000000 | ToByte(r + texture, random) | (ToByte(g + texture, random >> 8) << 8)
                | (ToByte(b + texture, random >> 16) << 16);
        }
    }

    private (float R, float G, float B) Sky(int x, int y)
    {
        float down = (float)y / _height;
        float dx = (x - (_width * 0.7f)) / _height;
        float dy = (y - (_height * 0.22f)) / _height;
        float distance = MathF.Sqrt((dx * dx) + (dy * dy));
        float glow = distance < 0.05f ? 255 : 6f / (distance + 0.02f);
        return (70 + (210 * down) + glow, 120 + (150 * down) + (0.8f * glow), 200 + (30 * down) + (0.4f * glow));
    }

    // Far ranges are pale and blue, near ones dark and green.
    private (float R, float G, float B) Hill(int range, float depth)
    {
        float near = (float)range / (Ranges - 1);
        float shade = Math.Min(40, depth * 200f / _height);
        uint tint = Hash(_seed, (uint)range, 99) & 31;
        return (130 - (80 * near) + shade, 150 - (60 * near) + tint + (0.5f * shade), 170 - (130 * near));
    }

    private uint ToByte(float value, uint random)
        => (uint)Math.Clamp((int)value + (int)((random & 255) * (uint)((2 * _grain) + 1) >> 8) - _grain, 0, 255);

    private static uint Hash(uint seed, uint x, uint y)
    {
        uint value = seed ^ (x * 0x9E3779B1u) ^ (y * 0x85EBCA77u);
        value = (value ^ (value >> 15)) * 0x2C1B3C6Du;
        value = (value ^ (value >> 12)) * 0x297A2D39u;
        return value ^ (value >> 15);
    }

    /// <summary>Smooth noise on a grid, row by row: the corners of the grid are random, values between them are interpolated.</summary>
    private sealed class Noise(uint seed, int width, int cell)
    {
        private readonly float[] _columns = new float[(width / cell) + 2];

        public void AddRow(int y, float amplitude, Span<float> row)
        {
            (int above, int offset) = Math.DivRem(y, cell);
            float down = Smooth((float)offset / cell);
            for (int i = 0; i < _columns.Length; i++)
            {
                float top = Corner(i, above);
                _columns[i] = amplitude * (top + (down * (Corner(i, above + 1) - top)));
            }

            for (int x = 0; x < row.Length; x++)
            {
                int column = x / cell;
                float across = Smooth((float)(x - (column * cell)) / cell);
                row[x] += _columns[column] + (across * (_columns[column + 1] - _columns[column]));
            }
        }

        private static float Smooth(float t) => t * t * (3 - (2 * t));

        private float Corner(int x, int y) => (Hash(seed, (uint)x, (uint)y) * (2f / uint.MaxValue)) - 1;
    }
}
