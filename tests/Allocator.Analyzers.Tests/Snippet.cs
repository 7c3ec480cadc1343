namespace Allocator.Analyzers.Tests;

/// <summary>Completes a few lines to a file, and compares what the analyzer reports with their marks.</summary>
internal static class Snippet
{
    private const string Opening =
        """
        using System;
        using System.Buffers;
        using System.Collections.Generic;
        using System.IO;
        using System.Linq;
        using System.Runtime.CompilerServices;
        using System.Runtime.InteropServices;
        using System.Threading;
        using System.Threading.Tasks;
        using Allocator;
        using static Probe;


        """;

    // Every name that snippets share. The bodies do nothing: only their signatures are seen.
    private const string Closing =
        """


        public static class Probe
        {
            public static MemoryAllocator A => MemoryAllocator.Default;
            public static bool Yes = true;
            public static int Number;
            public static IMemoryOwner<byte>? Field;
            public static readonly List<object> Kept = new();
            public static void Gc() { }
            public static void Check(byte value) { }
            public static void Read(ReadOnlySpan<byte> span) { }
            public static void Keep(object value) => Kept.Add(value);
            public static void KeepMemory(Memory<byte> memory) => Number = memory.Length;
        }
        """;

    /// <summary>Checks the statements of a method.</summary>
    public static Task<ImmutableArray<Diagnostic>> Body(string statements) =>
        Members($$"""
            public static unsafe void Run()
            {
            {{statements}}
            }
            """);

    /// <summary>Checks the members of a class.</summary>
    public static Task<ImmutableArray<Diagnostic>> Members(string members) =>
        File($$"""
            public partial class Example
            {
            {{members}}
            }
            """);

    /// <summary>Checks whole types.</summary>
    public static Task<ImmutableArray<Diagnostic>> File(string types) =>
        AnalyzerVerifier.Verify<LifetimeAnalyzer>(Opening + types + Closing);
}
