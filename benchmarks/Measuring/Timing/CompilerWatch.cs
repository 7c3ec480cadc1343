using System;
using System.Diagnostics;
using System.Runtime;

namespace Measuring.Timing;

/// <summary>Watches the just-in-time compiler, which replaces code in the background while that code is being measured.</summary>
internal sealed class CompilerWatch
{
    // The runtime collects methods for a tenth of a second before it compiles them anew.
    private static readonly TimeSpan s_quietTime = TimeSpan.FromMilliseconds(250);

    private readonly long _start = Stopwatch.GetTimestamp();
    private long _changed = Stopwatch.GetTimestamp();
    private long _methods = JitInfo.GetCompiledMethodCount();

    public TimeSpan Elapsed => Stopwatch.GetElapsedTime(_start);

    /// <summary>Gets whether nothing has been compiled for a while. To be asked often.</summary>
    public bool IsQuiet
    {
        get
        {
            long methods = JitInfo.GetCompiledMethodCount();
            if (methods != _methods)
            {
                _methods = methods;
                _changed = Stopwatch.GetTimestamp();
            }

            return Stopwatch.GetElapsedTime(_changed) >= s_quietTime;
        }
    }
}
