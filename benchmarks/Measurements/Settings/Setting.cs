namespace Measurements.Settings;

/// <summary>
/// Environment variables that a child is started with: <c>NAME=value</c>, several of them divided by blanks; null for none.
/// </summary>
internal sealed record Setting(string? Variables)
{
    public string Name => Variables ?? "none";

    /// <summary>Sets them, and takes away whatever else could act in their place.</summary>
    public void Apply(ProcessStartInfo start)
    {
        ChildProgram.ForgetMemorySettings(start);
        foreach (string one in Variables?.Split(' ') ?? [])
        {
            int equals = one.IndexOf('=');
            start.Environment[one[..equals]] = one[(equals + 1)..];
        }
    }
}
