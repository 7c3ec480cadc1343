namespace Measuring.Processes;

/// <summary>A task that a program does when it was started by itself.</summary>
public interface IChildTask
{
    /// <summary>Does what <paramref name="arguments"/> ask for, or returns false where they are not for this task.</summary>
    bool TryServe(string[] arguments);
}
