// What the compiler looks for by name and netstandard2.0 does not have. Embedded: invisible to other assemblies, those that see our
// internals included.
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
