using System;
using Allocator;

namespace Fragmentation.Subjects;

/// <summary>Where images get their memory from.</summary>
internal abstract class MemorySubject : IDisposable
{
    /// <summary>Makes the subject of <paramref name="kind"/>.</summary>
    public static MemorySubject Create(SubjectKind kind) => kind switch
    {
        SubjectKind.Unaligned => new RawSubject(isAligned: false),
        SubjectKind.Aligned => new RawSubject(isAligned: true),
        SubjectKind.Discontiguous => new PixelSubject(AllocationOptions.None),
        SubjectKind.Contiguous => new PixelSubject(AllocationOptions.Contiguous),
        SubjectKind.Classic => new ClassicSubject(),
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "There is no such subject."),
    };

    /// <summary>Returns the name of <paramref name="kind"/>, as tables show it.</summary>
    public static string NameOf(SubjectKind kind) => kind switch
    {
        SubjectKind.Unaligned => "raw unaligned",
        SubjectKind.Aligned => "raw aligned",
        SubjectKind.Discontiguous => "pixels, discontiguous",
        SubjectKind.Contiguous => "pixels, contiguous",
        SubjectKind.Classic => "classic pool (model)",
        _ => kind.ToString(),
    };

    /// <summary>Allocates an image of 4 bytes a pixel.</summary>
    public abstract HeldImage Allocate(int width, int height);

    /// <summary>Gives memory that lies idle back to the operating system, as far as there is a way to ask for it.</summary>
    public abstract void ReleaseIdle();

    /// <inheritdoc/>
    public abstract void Dispose();
}
