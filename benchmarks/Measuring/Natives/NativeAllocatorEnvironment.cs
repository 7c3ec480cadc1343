using System;
using System.Collections.Generic;

namespace Measuring.Natives;

/// <summary>What has to be in the environment of a process before it starts, so that it can load all the allocators.</summary>
public static class NativeAllocatorEnvironment
{
    private const string Variable = "GLIBC_TUNABLES";

    // jemalloc as Debian builds it wants 2,632 bytes of static thread-local storage; glibc keeps 512 for libraries that are loaded late,
    // and refuses ("cannot allocate memory in static TLS block").
    private const string StaticTlsRoom = "glibc.rtld.optional_static_tls=4096";

    /// <summary>
    /// Adds it to <paramref name="environment"/>, that of a process to be started. To be fair it is done for each of them alike,
    /// whatever they load. Systems without glibc ignore it.
    /// </summary>
    public static void Prepare(IDictionary<string, string?> environment)
    {
        if (OperatingSystem.IsLinux())
        {
            bool hasOthers = environment.TryGetValue(Variable, out string? others) && !string.IsNullOrEmpty(others);
            environment[Variable] = hasOthers ? $"{others}:{StaticTlsRoom}" : StaticTlsRoom;
        }
    }
}
