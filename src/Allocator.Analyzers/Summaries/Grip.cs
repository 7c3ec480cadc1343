namespace Allocator.Analyzers.Summaries;

/// <summary>How a value has the buffer: it is the buffer or its memory, or holds it in a known field or in an unknown one.</summary>
internal readonly struct Grip
{
    private Grip(bool isHolder, Slot? slot, bool isTask = false)
    {
        IsHolder = isHolder;
        Slot = slot;
        IsTask = isTask;
    }

    public static Grip Direct => default;

    public static Grip Holder => new(true, null);

    /// <summary>Gets how the task of a method has the buffer whose source shows that nothing has it once the task has ended.</summary>
    public static Grip Task => new(true, null, isTask: true);

    public bool IsHolder { get; }

    public bool IsTask { get; }

    /// <summary>Gets where the object has the buffer, or null if that is not known.</summary>
    public Slot? Slot { get; }

    public static Grip Inside(Slot slot) => new(true, slot);
}
