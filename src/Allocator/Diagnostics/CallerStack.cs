using System;
using System.Threading;

namespace Allocator.Diagnostics;

/// <summary>The stack of whoever called the library, without the library's own frames. Costs tens of microseconds.</summary>
internal static class CallerStack
{
    // By text: reflection over frames would not survive trimming. Namespaces that begin with "Allocator." may well be the user's.
    private const string Namespace = "Allocator.";

    private static readonly string[] s_ownParts =
        ["Allocators.", "Lifetime.", "Pooling.", "Diagnostics.", "MemoryAllocator.", "MemoryGroup`1.", "MemoryLease`1.", "PixelBuffer`1."];

    /// <summary>Captures the stack of the calling thread.</summary>
    /// <returns>A line for each frame, the innermost first, as <see cref="Exception.StackTrace"/> has them.</returns>
    /// <remarks>Returns capture it too: an interrupt of the thread, which the runtime's own locks let through, takes effect behind it.</remarks>
    public static string Capture()
    {
        bool wasInterrupted = false;
        while (true)
        {
            try
            {
                string stack = WithoutOwnFrames(Environment.StackTrace);
                if (wasInterrupted)
                {
                    Thread.CurrentThread.Interrupt();
                }

                return stack;
            }
            catch (ThreadInterruptedException)
            {
                wasInterrupted = true;
            }
        }
    }

    /// <summary>Gives the rest of a stack from the first frame on that is not the library's; all of it where there is no such frame.</summary>
    public static string WithoutOwnFrames(string stack)
    {
        for (int line = 0; line < stack.Length;)
        {
            if (!IsOwn(stack, line))
            {
                return stack.Substring(line);
            }

            int end = stack.IndexOf('\n', line);
            line = end < 0 ? stack.Length : end + 1;
        }

        return stack;
    }

    // The word before a method's name is "at" in English only, so the name is looked for behind the second word's beginning.
    private static bool IsOwn(string stack, int line)
    {
        int word = line;
        while (word < stack.Length && stack[word] == ' ')
        {
            word++;
        }

        int name = stack.IndexOf(' ', word) + 1;
        return name > 0 && (BeginsAt(stack, name, "System.Environment.get_StackTrace(")
            || (BeginsAt(stack, name, Namespace) && Array.Exists(s_ownParts, part => BeginsAt(stack, name + Namespace.Length, part))));
    }

    private static bool BeginsAt(string text, int start, string part) => string.CompareOrdinal(text, start, part, 0, part.Length) == 0;
}
