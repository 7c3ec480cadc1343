namespace Measuring.Charts;

/// <summary>Writes a curve as the path data of SVG, without the points that a straight line goes through anyway.</summary>
public sealed class ChartCurve
{
    private readonly List<(double X, double Y)> _points = [];

    public bool IsEmpty => _points.Count == 0;

    public void Add(double x, double y)
    {
        (double X, double Y) point = (Math.Round(x, 1), Math.Round(y, 1));
        if (_points.Count >= 2 && _points[^1].Y == point.Y && _points[^2].Y == point.Y)
        {
            _points[^1] = point;
        }
        else
        {
            _points.Add(point);
        }
    }

    public string ToLine()
    {
        StringBuilder text = new();
        foreach ((double x, double y) in _points)
        {
            _ = text.Append(CultureInfo.InvariantCulture, $"{(text.Length == 0 ? 'M' : 'L')}{x:0.#} {y:0.#}");
        }

        return text.ToString();
    }

    public string ToArea(double bottom)
        => Invariant($"{ToLine()}L{_points[^1].X:0.#} {bottom:0.#}L{_points[0].X:0.#} {bottom:0.#}Z");
}
