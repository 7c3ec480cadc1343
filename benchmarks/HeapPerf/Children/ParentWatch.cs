using System;
using System.IO;
using System.Threading;

namespace HeapPerf.Children;

/// <summary>Ends a child whose parent has gone, however it went: the pipe that was the child's input then ends.</summary>
internal static class ParentWatch
{
    private const int Orphaned = 3;

    /// <summary>Starts to watch, on a thread that does not keep the process alive.</summary>
    public static void Start() => new Thread(Watch) { IsBackground = true, Name = "Parent watch" }.Start();

    private static void Watch()
    {
        using Stream input = Console.OpenStandardInput();
        if (input.ReadByte() < 0)
        {
            Environment.Exit(Orphaned);
        }
    }
}
