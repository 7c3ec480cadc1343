namespace A4Copy.Buffers;

/// <summary>A way of getting unmanaged memory for a page.</summary>
internal abstract class BufferKind
{
    /// <summary>Names it.</summary>
    protected BufferKind(string name) => Name = name;

    /// <summary>Gets the name for the tables.</summary>
    public string Name { get; }

    /// <summary>Allocates a page, contents unspecified, which the caller gives to <see cref="Free"/>.</summary>
    public abstract PageBuffer Allocate();

    /// <summary>Frees what <see cref="Allocate"/> returned.</summary>
    public abstract void Free(in PageBuffer buffer);

    /// <summary>Allocates a page and frees it, <paramref name="count"/> times, without a virtual call in between.</summary>
    public abstract void AllocateAndFree(int count);
}
