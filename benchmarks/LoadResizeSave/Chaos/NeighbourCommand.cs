using System.Runtime.InteropServices;

namespace LoadResizeSave.Chaos;

/// <summary>The hidden command that is another process of a container: it takes memory, keeps it, and ends.</summary>
internal static unsafe class NeighbourCommand
{
    private const string Name = "neighbour";

    private static readonly Option<int> s_megabytes = new("--megabytes") { Required = true };
    private static readonly Option<int> s_step = new("--step") { Required = true };
    private static readonly Option<double> s_pause = new("--pause") { Required = true };
    private static readonly Option<double> s_stay = new("--stay") { Required = true };

    public static Command Create()
    {
        Command command = new(Name) { s_megabytes, s_step, s_pause, s_stay };
        command.Hidden = true;
        command.SetAction(parsed =>
        {
            ChildProgram.EndWithParent();
            Take(
                parsed.GetRequiredValue(s_megabytes), parsed.GetRequiredValue(s_step),
                TimeSpan.FromSeconds(parsed.GetRequiredValue(s_pause)));
            Thread.Sleep(TimeSpan.FromSeconds(parsed.GetRequiredValue(s_stay)));
            return 0;
        });
        return command;
    }

    /// <summary>Returns the arguments that make it take <paramref name="megabytes"/> MiB, <paramref name="step"/> at a time.</summary>
    public static IEnumerable<string> Arguments(int megabytes, int step, TimeSpan pause, TimeSpan stay) =>
        [
            Name, s_megabytes.Name, Text(megabytes), s_step.Name, Text(step), s_pause.Name, Text(pause.TotalSeconds), s_stay.Name,
            Text(stay.TotalSeconds)];

    private static void Take(int megabytes, int step, TimeSpan pause)
    {
        for (int taken = 0; taken < megabytes; taken += step)
        {
            nuint bytes = (nuint)Math.Min(step, megabytes - taken) << 20;
            NativeMemory.Fill(NativeMemory.Alloc(bytes), bytes, 1);
            Thread.Sleep(pause);
        }
    }

    private static string Text(IFormattable value) => value.ToString(null, CultureInfo.InvariantCulture);
}
