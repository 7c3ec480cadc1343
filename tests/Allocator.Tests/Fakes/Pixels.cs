namespace Allocator.Tests.Fakes;

// Pixels of the sizes that no number has.
[StructLayout(LayoutKind.Sequential, Size = 3, Pack = 1)]
internal struct Pixel3;

[StructLayout(LayoutKind.Sequential, Size = 5, Pack = 1)]
internal struct Pixel5;

[StructLayout(LayoutKind.Sequential, Size = 6, Pack = 1)]
internal struct Pixel6;

[StructLayout(LayoutKind.Sequential, Size = 7, Pack = 1)]
internal struct Pixel7;

[StructLayout(LayoutKind.Sequential, Size = 9, Pack = 1)]
internal struct Pixel9;

[StructLayout(LayoutKind.Sequential, Size = 10, Pack = 1)]
internal struct Pixel10;

[StructLayout(LayoutKind.Sequential, Size = 11, Pack = 1)]
internal struct Pixel11;

[StructLayout(LayoutKind.Sequential, Size = 12, Pack = 1)]
internal struct Pixel12;

[StructLayout(LayoutKind.Sequential, Size = 13, Pack = 1)]
internal struct Pixel13;

[StructLayout(LayoutKind.Sequential, Size = 14, Pack = 1)]
internal struct Pixel14;

[StructLayout(LayoutKind.Sequential, Size = 15, Pack = 1)]
internal struct Pixel15;

[StructLayout(LayoutKind.Sequential, Size = 16, Pack = 1)]
internal struct Pixel16;
