namespace Allocator.Analyzers.Summaries;

/// <summary>How a value has the buffer: it is the buffer or its memory, or holds it in a known field or in an unknown one.</summary>
internal readonly struct Grip
{
    private Grip(bool isHolder, Slot? slot)
    {
        IsHolder = isHolder;
        Slot = slot;
    }

    public static Grip Direct => default;

    public static Grip Holder => new(true, null);

    public bool IsHolder { get; }

    /// <summary>Gets where the object has the buffer, or null if that is not known.</summary>
    public Slot? Slot { get; }

    public static Grip Inside(Slot slot) => new(true, slot);
}
