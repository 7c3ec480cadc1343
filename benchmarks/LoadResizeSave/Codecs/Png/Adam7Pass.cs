namespace LoadResizeSave.Codecs.Png;

/// <summary>One of the seven passes of an interlaced PNG: which pixels of the picture it holds.</summary>
internal readonly record struct Adam7Pass(int Left, int Top, int StepX, int StepY)
{
    public static IReadOnlyList<Adam7Pass> All { get; } =
    [
        new(0, 0, 8, 8), new(4, 0, 8, 8), new(0, 4, 4, 8), new(2, 0, 4, 4), new(0, 2, 2, 4), new(1, 0, 2, 2), new(0, 1, 1, 2),
    ];

    /// <summary>Returns how many pixels a row of the pass has. Written so that no sum can overflow.</summary>
    public int Columns(int width) => width <= Left ? 0 : ((width - Left - 1) / StepX) + 1;

    public int Rows(int height) => height <= Top ? 0 : ((height - Top - 1) / StepY) + 1;
}
