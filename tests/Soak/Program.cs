using System.CommandLine;

namespace Soak;

/// <summary>Loads an allocator for as long as it is told to, and then looks whether all came back.</summary>
internal static class Program
{
    private static int Main(string[] arguments)
    {
        Option<int> duration = new("--duration") { Description = "How long, in seconds.", DefaultValueFactory = static _ => 60 };
        Option<int> threads = new("--threads")
        {
            Description = "How many threads allocate at once.",
            DefaultValueFactory = static _ => 2 * Environment.ProcessorCount,
        };
        Option<int> seed =
            new("--seed") { Description = "What the threads' random numbers follow from.", DefaultValueFactory = static _ => 1 };
        Option<int> budget =
            new("--budget") { Description = "The memory budget in MiB; 0 for none.", DefaultValueFactory = static _ => 192 };
        Option<bool> exhaust = new("--exhaust")
        {
            Description = "Fill the managed heap to the last byte, three times a second. For a process with DOTNET_GCHeapHardLimit.",
        };
        RootCommand command = new("Allocates, disposes, abandons, reserves, waits, is interrupted and gives up on many threads, with "
            + "callbacks that throw, and exits with 1 unless everything came back and the resident set stayed flat.")
        {
            duration, threads, seed, budget, exhaust,
        };
        command.SetAction(parsed =>
        {
            SoakOptions options = new(
                TimeSpan.FromSeconds(parsed.GetValue(duration)),
                parsed.GetValue(threads),
                parsed.GetValue(seed),
                parsed.GetValue(budget),
                parsed.GetValue(exhaust));
            return new SoakRun(options).Run() ? 0 : 1;
        });
        return command.Parse(arguments).Invoke();
    }
}
