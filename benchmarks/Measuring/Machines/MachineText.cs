using System;
using Measuring.Results;

namespace Measuring.Machines;

/// <summary>Writes machines for people.</summary>
public static class MachineText
{
    /// <summary>Returns processor, cores, memory, operating system and runtime in one line.</summary>
    public static string Describe(MachineDescription machine) => FormattableString.Invariant(
        $"{machine.Processor}, {machine.Cores} cores, {machine.MemoryBytes / 1e9:0} GB, {machine.OperatingSystem}, {machine.Runtime}");
}
