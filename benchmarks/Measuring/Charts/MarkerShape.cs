namespace Measuring.Charts;

/// <summary>The shapes at the points of a line.</summary>
public enum MarkerShape
{
    /// <summary>A disc.</summary>
    Circle,

    /// <summary>A square on its side.</summary>
    Square,

    /// <summary>A triangle that points up.</summary>
    Triangle,

    /// <summary>A square on its corner.</summary>
    Diamond,

    /// <summary>A triangle that points down.</summary>
    InvertedTriangle,

    /// <summary>Two strokes that cross upright.</summary>
    Plus,

    /// <summary>Two strokes that cross aslant.</summary>
    Cross,
}
