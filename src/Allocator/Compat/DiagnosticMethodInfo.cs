using System.Diagnostics.CodeAnalysis;
using System.Reflection;

namespace System.Diagnostics;

/// <summary>What .NET 9 knows of a frame's method without reflection, for older targets: the assembly alone.</summary>
internal sealed class DiagnosticMethodInfo
{
    private DiagnosticMethodInfo(MethodBase method) => DeclaringAssemblyName = method.Module.Assembly.FullName;

    public string? DeclaringAssemblyName { get; }

    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "A frame without a method is no frame of the library's.")]
    public static DiagnosticMethodInfo? Create(StackFrame frame) =>
        frame.GetMethod() is MethodBase method ? new DiagnosticMethodInfo(method) : null;
}
