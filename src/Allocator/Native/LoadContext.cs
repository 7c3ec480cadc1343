#if NET
using System.Runtime.Loader;
#endif

namespace Allocator.Native;

/// <summary>The load context of the library. A host may unload it if nothing outside references anything inside.</summary>
internal static class LoadContext
{
    /// <summary>Calls an action when the host begins to unload the library. Usually never: it cannot be unloaded.</summary>
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
