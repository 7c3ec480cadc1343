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
}
