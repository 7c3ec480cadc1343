using System.Runtime.InteropServices;

namespace LoadResizeSave.Pixels;

/// <summary>One pixel of eight bits a channel, in the order in which PNG and libjpeg-turbo store it, so that rows are copied as they are.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
internal readonly record struct Rgb24(byte R, byte G, byte B)
{
    public static Rgb24 White => new(255, 255, 255);
}
