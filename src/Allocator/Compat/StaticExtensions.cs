using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;

namespace Allocator;

/// <summary>
/// Static members of newer runtimes under their own names, for netstandard2.0. In the root namespace, so that no caller needs a
/// conditional
/// <c>using</c>.
/// </summary>
internal static class StaticExtensions
{
    extension(System.Runtime.CompilerServices.RuntimeHelpers)
    {
        public static bool IsReferenceOrContainsReferences<T>()
            where T : struct => ReferenceCheck<T>.ContainsReferences;
    }

    extension(Environment)
    {
        public static long TickCount64 => (long)(Stopwatch.GetTimestamp() * (1000.0 / Stopwatch.Frequency));
    }

    extension(Interlocked)
    {
        public static long Or(ref long location, long bits)
        {
            while (true)
            {
                long seen = Volatile.Read(ref location);
                if (Interlocked.CompareExchange(ref location, seen | bits, seen) == seen)
                {
                    return seen;
                }
            }
        }

        public static long And(ref long location, long bits)
        {
            while (true)
            {
                long seen = Volatile.Read(ref location);
                if (Interlocked.CompareExchange(ref location, seen & bits, seen) == seen)
                {
                    return seen;
                }
            }
        }
    }

    extension(MemoryMarshal)
    {
        /// <summary>pre: the reference is to unmanaged memory. To managed memory there is no such thing here.</summary>
        public static unsafe Span<T> CreateSpan<T>(ref T reference, int length)
            where T : unmanaged => new(System.Runtime.CompilerServices.Unsafe.AsPointer(ref reference), length);
    }

    private static class ReferenceCheck<T>
        where T : struct
    {
        public static readonly bool ContainsReferences = Find();

        // System.Memory knows, and tells by refusing to see such a type as bytes.
        private static bool Find()
        {
            try
            {
                MemoryMarshal.AsBytes(Span<T>.Empty);
                return false;
            }
            catch (ArgumentException)
            {
                return true;
            }
        }
    }
}
