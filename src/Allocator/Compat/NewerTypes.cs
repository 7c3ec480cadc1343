// What netstandard2.0 does not have: what the compiler looks for by name, and bit counts. Embedded: invisible to other assemblies, those
// that see our internals included.
namespace Microsoft.CodeAnalysis
{
    internal sealed partial class EmbeddedAttribute : global::System.Attribute
    {
    }
}

namespace System.Runtime.CompilerServices
{
    [Microsoft.CodeAnalysis.Embedded]
    internal static class IsExternalInit
    {
    }
}

namespace System.Diagnostics.CodeAnalysis
{
    [Microsoft.CodeAnalysis.Embedded]
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class DoesNotReturnAttribute : Attribute
    {
    }

    [Microsoft.CodeAnalysis.Embedded]
    [AttributeUsage(AttributeTargets.Parameter)]
    internal sealed class NotNullAttribute : Attribute
    {
    }

    [Microsoft.CodeAnalysis.Embedded]
    [AttributeUsage(AttributeTargets.Parameter)]
    internal sealed class NotNullWhenAttribute : Attribute
    {
        public NotNullWhenAttribute(bool returnValue) => _ = returnValue;
    }

    [Microsoft.CodeAnalysis.Embedded]
    [AttributeUsage(AttributeTargets.Property | AttributeTargets.Method | AttributeTargets.Parameter)]
    internal sealed class UnscopedRefAttribute : Attribute
    {
    }

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
            value |= value >> 1;
            value |= value >> 2;
            value |= value >> 4;
            value |= value >> 8;
            value |= value >> 16;
            value |= value >> 32;
            return PopCount(~value);
        }
    }
}
