namespace LoadResizeSave.Synthesis;

/// <summary>Smooth noise on a grid, row by row: the corners of the grid are random, what lies between is interpolated.</summary>
internal sealed class ValueNoise
{
    private readonly uint _seed;
    private readonly int _cell;
    private readonly float[] _columns;

    public ValueNoise(uint seed, int width, int cell)
    {
        _seed = seed;
        _cell = cell;
        _columns = new float[(width / cell) + 2];
    }

    public static uint Hash(uint seed, uint x, uint y)
    {
        uint value = seed ^ (x * 0x9E3779B1u) ^ (y * 0x85EBCA77u);
        value = (value ^ (value >> 15)) * 0x2C1B3C6Du;
        value = (value ^ (value >> 12)) * 0x297A2D39u;
        return value ^ (value >> 15);
    }

    public void AddRow(int y, float amplitude, Span<float> row)
    {
        (int above, int offset) = Math.DivRem(y, _cell);
        float down = Smooth((float)offset / _cell);
        for (int i = 0; i < _columns.Length; i++)
        {
            float top = Corner(i, above);
            _columns[i] = amplitude * (top + (down * (Corner(i, above + 1) - top)));
        }

        for (int x = 0; x < row.Length; x++)
        {
            int column = x / _cell;
            float across = Smooth((float)(x - (column * _cell)) / _cell);
            row[x] += _columns[column] + (across * (_columns[column + 1] - _columns[column]));
        }
    }

    private static float Smooth(float t) => t * t * (3 - (2 * t));

    private float Corner(int x, int y) => (Hash(_seed, (uint)x, (uint)y) * (2f / uint.MaxValue)) - 1;
}
