using System;
using System.Reflection;

/// <summary>The runtime, by the one name that Mono is known by.</summary>
internal static class MonoRuntime
{
    /// <summary>Gets Mono's version; null where something else runs.</summary>
    public static string? Version { get; } =
        Type.GetType("Mono.Runtime")
            ?.GetMethod("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static)
            ?.Invoke(null, null) as string;
}
