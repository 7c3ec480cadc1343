namespace Measuring.Charts;

/// <summary>What stands around a plot, and how large it is. Sizes are in pixels.</summary>
/// <param name="HasLines">Whether the series are lines, and not bars.</param>
/// <param name="MarksWidth">The room for the names of the marks left of the plot.</param>
/// <param name="MarksHeight">The room for the names of the marks below the plot.</param>
/// <param name="Overhang">The room right of the plot: half of the last mark's name.</param>
internal sealed record ChartLayout(
    ResultChart Chart,
    bool HasLines,
    string BottomLabel,
    string LeftLabel,
    double PlotWidth,
    double PlotHeight,
    double MarksWidth,
    double Overhang = 0,
    double MarksHeight = TextMeasure.LineHeight,
    string? Footnote = null);

/// <summary>A picture with title, legend and axis labels drawn, and room for a plot in the middle.</summary>
internal sealed class ChartFrame
{
    public const string AxisColour = "#666";

    private const double Margin = 16;
    private const double Gap = 8;
    private const double TickLength = 4;
    private const string GridColour = "#dedede";
    private const string FaintGridColour = "#f1f1f1";

    public ChartFrame(ChartLayout layout)
    {
        ChartLegend legend = new(layout.Chart, layout.HasLines, layout.PlotWidth);
        IReadOnlyList<string> leftLabel = TextMeasure.Wrap(layout.LeftLabel, layout.PlotHeight);
        IReadOnlyList<string> bottomLabel = TextMeasure.Wrap(layout.BottomLabel, layout.PlotWidth);
        Left = Margin + (leftLabel.Count * TextMeasure.LineHeight) + Gap + layout.MarksWidth + Gap;
        Right = Left + layout.PlotWidth;
        double width = Right + Margin + Math.Max(layout.Overhang, legend.Width - layout.PlotWidth);
        IReadOnlyList<string> title = TextMeasure.Wrap(layout.Chart.Title, width - (2 * Margin), bold: true);
        IReadOnlyList<string> footnote = layout.Footnote is null ? [] : TextMeasure.Wrap(layout.Footnote, width - (2 * Margin));
        double legendTop = Margin + (title.Count * TextMeasure.LineHeight) + Gap;
        Top = legendTop + legend.Height + Gap;
        Bottom = Top + layout.PlotHeight;
        double labelTop = Bottom + TickLength + layout.MarksHeight + Gap;
        double footnoteTop = labelTop + (bottomLabel.Count * TextMeasure.LineHeight) + Gap;
        double height = footnoteTop + (footnote.Count * TextMeasure.LineHeight) + Margin - Gap;

        Picture = SvgElements.Picture(width, height, layout.Chart.Title);
        AddLines(title, Margin, Margin, "start", "bold");
        legend.AddTo(Picture, Left, legendTop);
        AddLines(bottomLabel, (Left + Right) / 2, labelTop, "middle");
        AddLines(footnote, Margin, footnoteTop, "start");
        double middle = (Top + Bottom) / 2;
        for (int i = 0; i < leftLabel.Count; i++)
        {
            double x = Margin + ((i + 1) * TextMeasure.LineHeight) - 4;
            Picture.Add(SvgElements.Upright(SvgElements.Text(x, middle, leftLabel[i], "middle"), x, middle));
        }
    }

    public XElement Picture { get; }

    public double Left { get; }

    public double Right { get; }

    public double Top { get; }

    public double Bottom { get; }

    /// <summary>Says what a reader could take for something else; null where there is nothing.</summary>
    public static string? Footnote(int leftOut, ChartScale vertical)
    {
        string values = leftOut == 0 ? "" : $"Values left out: {leftOut}; they have no place on a logarithmic axis. ";
        bool hasZero = vertical.IsLogarithmic || (vertical.Minimum <= 0 && vertical.Maximum >= 0);
        string text = values + (hasZero ? "" : "The vertical axis does not begin at 0.");
        return text.Length == 0 ? null : text.TrimEnd();
    }

    /// <summary>Draws the marks of <paramref name="scale"/> on the left edge, with lines across the plot, and returns the axis.</summary>
    public ChartAxis AddVerticalAxis(ChartScale scale)
    {
        ChartAxis axis = new(scale, Bottom, Top);
        foreach (double value in scale.MinorTicks)
        {
            Picture.Add(SvgElements.Line(Left, axis[value], Right, axis[value], FaintGridColour));
        }

        foreach (ChartTick tick in scale.Ticks)
        {
            Picture.Add(SvgElements.Line(Left, axis[tick.Value], Right, axis[tick.Value], GridColour));
            Picture.Add(SvgElements.Text(Left - Gap, axis[tick.Value] + 4, tick.Label, "end"));
        }

        Picture.Add(SvgElements.Line(Left, Top, Left, Bottom, AxisColour));
        return axis;
    }

    /// <summary>Draws the marks of <paramref name="scale"/> on the lower edge, and returns the axis.</summary>
    public ChartAxis AddHorizontalAxis(ChartScale scale, bool hasGrid)
    {
        ChartAxis axis = new(scale, Left, Right);
        foreach (double value in hasGrid ? scale.MinorTicks : [])
        {
            Picture.Add(SvgElements.Line(axis[value], Top, axis[value], Bottom, FaintGridColour));
        }

        foreach (ChartTick tick in scale.Ticks)
        {
            double x = axis[tick.Value];
            Picture.Add(hasGrid
                ? SvgElements.Line(x, Top, x, Bottom, GridColour)
                : SvgElements.Line(x, Bottom, x, Bottom + TickLength, AxisColour));
            Picture.Add(SvgElements.Text(x, Bottom + TickLength + SvgElements.FontSize, tick.Label, "middle"));
        }

        Picture.Add(SvgElements.Line(Left, Bottom, Right, Bottom, AxisColour));
        return axis;
    }

    /// <summary>Writes <paramref name="lines"/> below each other, the first with its upper edge at <paramref name="top"/>.</summary>
    public void AddLines(IReadOnlyList<string> lines, double x, double top, string anchor, string weight = "normal")
    {
        for (int i = 0; i < lines.Count; i++)
        {
            double y = top + SvgElements.FontSize + (i * TextMeasure.LineHeight);
            Picture.Add(SvgElements.Text(x, y, lines[i], anchor, weight: weight));
        }
    }
}
