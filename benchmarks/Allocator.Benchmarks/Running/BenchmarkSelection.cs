using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using BenchmarkDotNet.Attributes;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Running;

namespace Allocator.Benchmarks.Running;

/// <summary>Finds the benchmarks of this program.</summary>
internal static class BenchmarkSelection
{
    /// <summary>Gets the classes that hold benchmarks, in the order of their names.</summary>
    public static IReadOnlyList<Type> Classes { get; } =
    [
        .. typeof(BenchmarkSelection).Assembly.GetTypes()
            .Where(type => !type.IsAbstract && type.GetMethods().Any(method => method.GetCustomAttribute<BenchmarkAttribute>() is not null))
            .OrderBy(type => type.FullName, StringComparer.Ordinal),
    ];

    /// <summary>Returns the benchmarks that the filters of <paramref name="config"/> leave, class by class.</summary>
    public static BenchmarkRunInfo[] Select(IConfig config)
        => [.. Classes.Select(type => BenchmarkConverter.TypeToBenchmarks(type, config)).Where(run => run.BenchmarksCases.Length > 0)];
}
