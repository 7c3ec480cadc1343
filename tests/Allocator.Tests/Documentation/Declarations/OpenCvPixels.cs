// Written by hand from https://shimat.github.io/opencvsharp: the members that the guide uses. Not the library.
using System;

namespace OpenCvSharp;

public struct MatType
{
    public static readonly MatType CV_8UC4;
}

public class Mat : IDisposable
{
    public int Rows => throw null!;

    public int Cols => throw null!;

    public IntPtr Data => throw null!;

    public long Step() => throw null!;

    public static Mat FromPixelData(int rows, int cols, MatType type, nint data, long step = 0) => throw null!;

    public void Dispose() => throw null!;
}
