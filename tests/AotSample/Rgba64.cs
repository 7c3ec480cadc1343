namespace AotSample;

/// <summary>A pixel of a type that the library cannot know.</summary>
internal readonly record struct Rgba64(ushort R, ushort G, ushort B, ushort A);
