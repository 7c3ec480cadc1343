namespace A4Copy.Copying;

/// <summary>Copies <paramref name="length"/> bytes.</summary>
internal unsafe delegate void PageCopy(byte* source, byte* destination, int length);
