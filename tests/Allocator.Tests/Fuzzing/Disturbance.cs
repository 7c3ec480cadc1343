namespace Allocator.Tests.Fuzzing;

/// <summary>What is wrong during one call, beside what the system refuses and what callbacks throw.</summary>
internal enum Disturbance
{
    None,
    Interrupt,
    NoTimer,
}
