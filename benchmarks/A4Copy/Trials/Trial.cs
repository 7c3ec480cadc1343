namespace A4Copy.Trials;

/// <summary>One trial of one test with one kind of memory.</summary>
/// <param name="Milliseconds">How long it took.</param>
/// <param name="Faults">Its page faults.</param>
internal readonly record struct Trial(double Milliseconds, long Faults);
