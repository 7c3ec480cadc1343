using System.Globalization;
using Measuring.Cgroups;

namespace Allocator.Tests.Limits;

/// <summary>Memory cgroups for tests; the test is skipped where none can be made.</summary>
internal static class TestCgroup
{
    public static MemoryCgroup CreateOrSkip(long limitInBytes)
    {
        try
        {
            return MemoryCgroup.Create(limitInBytes);
        }
        catch (CgroupUnavailableException exception)
        {
            throw new SkipException(exception.Message);
        }
    }

    /// <summary>Moves this process into the group. What it has used so far stays with the former group.</summary>
    public static void Enter(string folder) =>
        File.WriteAllText(
            Path.Combine(folder, CgroupFiles.Processes), Environment.ProcessId.ToString(CultureInfo.InvariantCulture));
}
