namespace Soak;

/// <summary>What the command line says.</summary>
internal sealed record SoakOptions(TimeSpan Duration, int Threads, int Seed, int BudgetMegabytes, bool Exhausts);
