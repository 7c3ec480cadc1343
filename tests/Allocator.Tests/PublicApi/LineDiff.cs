using System;
using System.Text;

namespace Allocator.Tests.PublicApi;

/// <summary>What changed between two texts, line by line, each change below the last line that starts in the first column.</summary>
internal static class LineDiff
{
    public static string Between(string before, string after)
    {
        string[] old = before.Split('\n');
        string[] current = after.Split('\n');
        int[,] common = CommonLengths(old, current);
        StringBuilder result = new();
        string heading = "";
        string printedHeading = "";

        void Report(char sign, string line)
        {
            if (line.StartsWith(' ') && heading != printedHeading)
            {
                result.Append("  ").Append(heading).Append('\n');
                printedHeading = heading;
            }

            result.Append(sign).Append(' ').Append(line).Append('\n');
        }

        for (int i = 0, j = 0; i < old.Length || j < current.Length;)
        {
            if (i < old.Length && j < current.Length && old[i] == current[j])
            {
                heading = old[i].StartsWith(' ') || old[i].Length == 0 ? heading : old[i];
                i++;
                j++;
            }
            else if (j == current.Length || (i < old.Length && common[i + 1, j] >= common[i, j + 1]))
            {
                Report('-', old[i++]);
            }
            else
            {
                Report('+', current[j++]);
            }
        }

        return result.ToString();
    }

    // [i, j]: how many lines old[i..] and current[j..] have in common, in order.
    private static int[,] CommonLengths(string[] old, string[] current)
    {
        int[,] common = new int[old.Length + 1, current.Length + 1];
        for (int i = old.Length - 1; i >= 0; i--)
        {
            for (int j = current.Length - 1; j >= 0; j--)
            {
                common[i, j] = old[i] == current[j] ? common[i + 1, j + 1] + 1 : Math.Max(common[i + 1, j], common[i, j + 1]);
            }
        }

        return common;
    }
}
