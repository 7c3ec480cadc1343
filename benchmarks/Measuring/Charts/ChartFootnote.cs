using System.Linq;

namespace Measuring.Charts;

/// <summary>Says what a reader could take for something else.</summary>
internal static class ChartFootnote
{
    /// <summary>
    /// Returns the sentences about <paramref name="leftOut"/> values that are not drawn, and about an axis that does not begin at zero;
    /// null where there are none.
    /// </summary>
    public static string? Create(int leftOut, ChartScale vertical)
    {
        string? values = leftOut switch
        {
            0 => null,
            1 => "1 value is left out: it has no place on a logarithmic axis.",
            _ => $"{leftOut} values are left out: they have no place on a logarithmic axis.",
        };
        string? axis = vertical is LinearScale && (vertical.Minimum > 0 || vertical.Maximum < 0) ? "The vertical axis does not begin "
            + "at 0." : null;
        return values is null && axis is null ? null : string.Join(' ', ((string?[])[values, axis]).OfType<string>());
    }
}
