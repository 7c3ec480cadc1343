namespace Decisions.Slots;

/// <summary>What taking a block and putting it back took.</summary>
/// <param name="Slots">The kind of slots.</param>
/// <param name="Threads">How many threads did it.</param>
/// <param name="Held">How many blocks each held at a time.</param>
/// <param name="Nanoseconds">The wall time over the operations of all threads.</param>
/// <param name="Ratio">The same against slots for each core.</param>
internal sealed record SlotsTime(string Slots, int Threads, int Held, double Nanoseconds, double Ratio);
