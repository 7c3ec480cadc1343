namespace Allocator.Diagnostics;

/// <summary>The stack of the call into the library, without the library's own frames. Costs tens of microseconds.</summary>
internal static class CallerStack
{
    private static readonly string? s_ownAssembly = typeof(CallerStack).Assembly.FullName;
    private static readonly string? s_coreAssembly = typeof(object).Assembly.FullName;

    /// <summary>Captures the stack of the calling thread: a line for each frame, the innermost first, as exceptions have them.</summary>
    /// <remarks>Returns capture it too. An interrupt, which the runtime's own locks let through, takes effect afterwards.</remarks>
    public static string Capture()
    {
        try
        {
            return CaptureOutside();
        }
        catch (ThreadInterruptedException)
        {
            string stack = Capture();
            Thread.CurrentThread.Interrupt();
            return stack;
        }
    }

    // Both traces begin with this method. File names are looked up only for the frames that are shown.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static string CaptureOutside()
    {
        StackTrace all = new(fNeedFileInfo: false);
        int own = 0;
        for (int i = 0; i < all.FrameCount; i++)
        {
            string? assembly = all.GetFrame(i) is StackFrame frame ? DiagnosticMethodInfo.Create(frame)?.DeclaringAssemblyName : null;
            if (assembly == s_ownAssembly)
            {
                own = i + 1;
            }
            else if (assembly != s_coreAssembly)
            {
                // The runtime's frames between frames of the library, such as those of async methods, are not the caller's.
                break;
            }
        }

        return new StackTrace(own < all.FrameCount ? own : 0, fNeedFileInfo: true).ToString().TrimEnd();
    }
}
