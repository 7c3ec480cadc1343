namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>Where in the source a step is taken, and on what.</summary>
internal readonly record struct StepSite(string Operation, string Location, string Member, string File, int Line)
{
    /// <summary>Gets the type by its file, and the member.</summary>
    public string Name => $"{Path.GetFileName(File).Split('.')[0]}.{Member}";

    public override string ToString() =>
        Line == 0 ? $"{Operation} {Location}" : $"{Name}:{Line}  {Operation}({Location.Replace("ref ", "")})";
}
