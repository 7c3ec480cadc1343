namespace Decisions.Questions;

/// <summary>Something that the design left open, and that measurement can settle.</summary>
internal abstract class Question
{
    /// <summary>Gets the name to ask it by, in small letters.</summary>
    public abstract string Name { get; }

    /// <summary>Gets what is measured, in one line.</summary>
    public abstract string Title { get; }

    /// <summary>Measures. What cannot be had on this machine is left out, and a note says why.</summary>
    public abstract Answer Ask(Effort effort);
}
