namespace Measuring.Charts;

/// <summary>The shapes at the points of a line.</summary>
public enum MarkerShape
{
    Circle,

    Square,

    Triangle,

    Diamond,

    InvertedTriangle,

    Plus,

    Cross,
}
