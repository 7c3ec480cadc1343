#pragma warning disable IDE0161 // On .NET 8 one namespace is left.
#if !NET9_0_OR_GREATER
using System.Diagnostics.CodeAnalysis;

namespace System.Diagnostics
{
    /// <summary>What .NET 9 knows of a frame's method without reflection, for older targets: the assembly alone.</summary>
    internal sealed class DiagnosticMethodInfo(string? assemblyName)
    {
        public string? DeclaringAssemblyName => assemblyName;

        /// <summary>Describes a frame's method. Null if the frame has none, as for native code.</summary>
        [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "A frame without a method is no frame of the library's.")]
        public static DiagnosticMethodInfo? Create(StackFrame frame) =>
            frame.GetMethod() is Reflection.MethodBase method ? new DiagnosticMethodInfo(method.Module.Assembly.FullName) : null;
    }
}
#endif

#if !NET
// What netstandard2.0 does not have: what the compiler looks for by name, bit counts, and members. Embedded: invisible to other
// assemblies, those that see our internals included.
namespace Microsoft.CodeAnalysis
{
    internal sealed partial class EmbeddedAttribute : global::System.Attribute;
}

namespace System.Runtime.CompilerServices
{
    [Microsoft.CodeAnalysis.Embedded]
    internal static class IsExternalInit;
}

namespace System.Diagnostics.CodeAnalysis
{
    [Microsoft.CodeAnalysis.Embedded]
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class DoesNotReturnAttribute : Attribute;

    [Microsoft.CodeAnalysis.Embedded]
    [AttributeUsage(AttributeTargets.Parameter)]
    internal sealed class NotNullAttribute : Attribute;

    [Microsoft.CodeAnalysis.Embedded]
    [AttributeUsage(AttributeTargets.Parameter)]
    internal sealed class NotNullWhenAttribute : Attribute
    {
        public NotNullWhenAttribute(bool returnValue) => _ = returnValue;
    }

    [Microsoft.CodeAnalysis.Embedded]
    [AttributeUsage(AttributeTargets.Property | AttributeTargets.Method | AttributeTargets.Parameter)]
    internal sealed class UnscopedRefAttribute : Attribute;

    [Microsoft.CodeAnalysis.Embedded]
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class UnconditionalSuppressMessageAttribute : Attribute
    {
        public UnconditionalSuppressMessageAttribute(string category, string checkId) => _ = (category, checkId);

        public string? Justification { get; set; }
    }
}

namespace System.Numerics
{
    /// <summary>The three bit counts that the free maps need, for netstandard2.0.</summary>
    [Microsoft.CodeAnalysis.Embedded]
    internal static class BitOperations
    {
        public static int PopCount(ulong value)
        {
            value -= (value >> 1) & 0x5555_5555_5555_5555UL;
            value = (value & 0x3333_3333_3333_3333UL) + ((value >> 2) & 0x3333_3333_3333_3333UL);
            value = (value + (value >> 4)) & 0x0F0F_0F0F_0F0F_0F0FUL;
            return (int)((value * 0x0101_0101_0101_0101UL) >> 56);
        }

        // The bits below the lowest set one; 64 for zero.
        public static int TrailingZeroCount(ulong value) => PopCount(~value & (value - 1));

        public static int LeadingZeroCount(ulong value)
        {
            for (int shift = 1; shift < 64; shift *= 2)
            {
                value |= value >> shift;
            }

            return PopCount(~value);
        }
    }
}

namespace Allocator.Diagnostics
{
    /// <summary>
    /// Replaces the metrics of newer targets. System.Diagnostics.Metrics would be one more package for netstandard2.0, so there is no
    /// meter here, and no listener ever sees a figure.
    /// </summary>
    internal static class AllocatorMeter
    {
        public static bool IsMade => false;

        public static void Ensure()
        {
        }

        public static void Close()
        {
        }
    }
}

namespace Allocator
{
    /// <summary>Members of newer runtimes, for netstandard2.0. In the root namespace: callers need no conditional <c>using</c>.</summary>
    internal static class NewerMembers
    {
        private const int CopyLength = 81920;

        extension(System.Runtime.CompilerServices.RuntimeHelpers)
        {
            public static bool IsReferenceOrContainsReferences<T>()
                where T : struct => ReferenceCheck<T>.ContainsReferences;
        }

        extension(Environment)
        {
            public static long TickCount64 => (long)(Stopwatch.GetTimestamp() * (1000.0 / Stopwatch.Frequency));
        }

        extension(CancellationToken token)
        {
            public CancellationTokenRegistration UnsafeRegister(Action<object?> callback, object? state)
            {
                using AsyncFlowControl? flow = ExecutionContext.IsFlowSuppressed() ? null : ExecutionContext.SuppressFlow();
                return token.Register(callback, state);
            }
        }

        extension(Interlocked)
        {
            public static long Or(ref long location, long bits) => Change(ref location, ~0L, bits);

            public static long And(ref long location, long bits) => Change(ref location, bits, 0);
        }

        extension(MemoryMarshal)
        {
            // For unmanaged memory only: for managed memory there is no equivalent here.
            public static unsafe Span<T> CreateSpan<T>(ref T reference, int length)
                where T : unmanaged => new(System.Runtime.CompilerServices.Unsafe.AsPointer(ref reference), length);
        }

        public static Task WriteAsync(this Stream stream, ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken) =>
            MemoryMarshal.TryGetArray(buffer, out ArraySegment<byte> array)
                ? stream.WriteAsync(array.Array!, array.Offset, array.Count, cancellationToken)
                : WriteCopiesAsync(stream, buffer, cancellationToken);

        public static void Write(this Stream stream, ReadOnlySpan<byte> buffer)
        {
            byte[] array = ArrayPool<byte>.Shared.Rent(Math.Min(CopyLength, buffer.Length));
            try
            {
                while (!buffer.IsEmpty)
                {
                    int count = Math.Min(array.Length, buffer.Length);
                    buffer.Slice(0, count).CopyTo(array);
                    stream.Write(array, 0, count);
                    buffer = buffer.Slice(count);
                }
            }
            finally
            {
                ArrayPool<byte>.Shared.Return(array);
            }
        }

        private static long Change(ref long location, long kept, long added)
        {
            while (true)
            {
                long seen = Volatile.Read(ref location);
                if (Interlocked.CompareExchange(ref location, (seen & kept) | added, seen) == seen)
                {
                    return seen;
                }
            }
        }

        // Streams of that framework take arrays only.
        private static async Task WriteCopiesAsync(Stream stream, ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken)
        {
            byte[] array = ArrayPool<byte>.Shared.Rent(Math.Min(CopyLength, buffer.Length));
            try
            {
                while (!buffer.IsEmpty)
                {
                    int count = Math.Min(array.Length, buffer.Length);
                    buffer.Slice(0, count).CopyTo(array);
                    await stream.WriteAsync(array, 0, count, cancellationToken).ConfigureAwait(false);
                    buffer = buffer.Slice(count);
                }
            }
            finally
            {
                ArrayPool<byte>.Shared.Return(array);
            }
        }

        private static class ReferenceCheck<T>
            where T : struct
        {
            public static readonly bool ContainsReferences = Find();

            // System.Memory knows: it throws if such a type is to be seen as bytes.
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
}
#endif
