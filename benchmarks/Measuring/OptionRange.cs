using System;
using System.Collections.Generic;
using System.CommandLine;
using System.CommandLine.Parsing;

namespace Measuring;

/// <summary>Refuses option values that are out of range, with an error that names the value and the limits.</summary>
public static class OptionRange
{
    public static Option<T> AtLeast<T>(this Option<T> option, T least)
        where T : struct, IComparable<T> => option.Check(least, null, static result => [result.GetValueOrDefault<T>()]);

    public static Option<T?> AtLeast<T>(this Option<T?> option, T least)
        where T : struct, IComparable<T> => option.Check(least, null, WhereGiven<T>);

    public static Option<T[]> AtLeast<T>(this Option<T[]> option, T least)
        where T : struct, IComparable<T> => option.Check(least, null, static result => result.GetValueOrDefault<T[]>() ?? []);

    public static Option<T> Between<T>(this Option<T> option, T least, T most)
        where T : struct, IComparable<T> => option.Check(least, most, static result => [result.GetValueOrDefault<T>()]);

    /// <summary>Has the value, where there is one, lie between two limits, both allowed.</summary>
    public static Option<T?> Between<T>(this Option<T?> option, T least, T most)
        where T : struct, IComparable<T> => option.Check(least, most, WhereGiven<T>);

    public static Option<T[]> Between<T>(this Option<T[]> option, T least, T most)
        where T : struct, IComparable<T> => option.Check(least, most, static result => result.GetValueOrDefault<T[]>() ?? []);

    private static IEnumerable<T> WhereGiven<T>(OptionResult result)
        where T : struct => result.GetValueOrDefault<T?>() is { } value ? [value] : [];

    private static TOption Check<TOption, T>(this TOption option, T least, T? most, Func<OptionResult, IEnumerable<T>> read)
        where TOption : Option
        where T : struct, IComparable<T>
    {
        option.Validators.Add(result =>
        {
            foreach (T value in Read(result, read))
            {
                // CompareTo, which orders NaN below every number.
                if (value.CompareTo(least) < 0 || (most is { } limit && value.CompareTo(limit) > 0))
                {
                    result.AddError(FormattableString.Invariant($"{option.Name} is {value}; it must be {Range(least, most)}."));
                }
            }
        });
        return option;
    }

    private static string Range<T>(T least, T? most)
        where T : struct => most is { } limit ? FormattableString.Invariant($"from {least} to {limit}") : FormattableString.Invariant($"at least {least}");

    // A validator also sees what does not convert, and reading that throws. The parser says so itself.
    private static IEnumerable<T> Read<T>(OptionResult result, Func<OptionResult, IEnumerable<T>> read)
    {
        try
        {
            return read(result);
        }
        catch (InvalidOperationException)
        {
            return [];
        }
    }
}
