using System.Diagnostics.CodeAnalysis;
using System.Reflection;

namespace System.Diagnostics;

/// <summary>What .NET 9 knows of a frame's method without reflection, for older targets: the assembly alone.</summary>
internal sealed class DiagnosticMethodInfo
{
    private DiagnosticMethodInfo(MethodBase method) => DeclaringAssemblyName = method.Module.Assembly.FullName;

    /// <summary>Gets the full name of the assembly that has the method.</summary>
    public string? DeclaringAssemblyName { get; }

    /// <summary>Describes a frame's method.</summary>
    /// <param name="frame">The frame, of this process.</param>
    /// <returns>Null where the frame has none, as of native code.</returns>
    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "A frame without a method is no frame of the library's.")]
    public static DiagnosticMethodInfo? Create(StackFrame frame) =>
        frame.GetMethod() is MethodBase method ? new DiagnosticMethodInfo(method) : null;
}
