namespace Allocator.Concurrency.Engine;

/// <summary>A scenario of a few lines, over a few numbers.</summary>
internal sealed class Inline : Scenario
{
    private readonly Action<Inline> _check;

    public Inline(Action<Inline> check, params Action<Inline>[] bodies)
    {
        _check = check;
        for (int i = 0; i < bodies.Length; i++)
        {
            Action<Inline> body = bodies[i];
            Thread($"thread {i + 1}", () => body(this));
        }
    }

    public Cells Shared { get; } = new();

    public override void Check() => _check(this);

    /// <summary>What the threads share.</summary>
    internal sealed class Cells
    {
        public int X;
        public int Y;
        public int Plain;
        public int SeenX;
        public int SeenY;
        public object First { get; } = new();
        public object Second { get; } = new();
    }
}
