using System;
#if NET
using System.Runtime.Loader;
#endif

namespace Allocator.Native;

/// <summary>
/// The load context of the library. A host may unload it, a plug-in's for instance, unless something outside references what is inside.
/// </summary>
internal static class LoadContext
{
    /// <summary>
    /// Calls an action when the host begins to unload the library. Never where it cannot be unloaded, which is the usual case.
    /// </summary>
    public static void OnUnloading(Action action)
    {
#if NET
        if (AssemblyLoadContext.GetLoadContext(typeof(LoadContext).Assembly) is AssemblyLoadContext { IsCollectible: true } context)
        {
            context.Unloading += _ => action();
        }
#endif
    }
}
