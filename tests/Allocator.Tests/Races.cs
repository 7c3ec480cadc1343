using System.Globalization;

namespace Allocator.Tests;

/// <summary>
/// How long threads race each other, in tests that find a fault by chance: <c>ALLOCATOR_RACE_ROUNDS</c> times as long, five times in the
/// nightly run.
/// </summary>
internal static class Races
{
    public static int Rounds { get; } =
        int.Parse(Environment.GetEnvironmentVariable("ALLOCATOR_RACE_ROUNDS") ?? "1", CultureInfo.InvariantCulture);
}
