using System;
using Allocator.Diagnostics;
using Xunit;

namespace Allocator.Tests.Diagnostics;

public class CallerStackTests
{
    [Fact]
    public void Capture_CalledByATest_BeginsWithTheTest()
    {
        string stack = CallerStack.Capture();

        Assert.Contains(nameof(Capture_CalledByATest_BeginsWithTheTest), stack.Split('\n')[0], StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("   at System.Environment.get_StackTrace()\n   at Allocator.Lifetime.FinalizableGuard.X()\n   at Allocator.MemoryAllocator.Allocate[T](Int32 n)\n   at App.Run()", "   at App.Run()")]
    [InlineData("   bei Allocator.MemoryAllocator.Allocate[T](Int32 n)\n   bei Allocator.Sample.Run()\n   bei App.Main()", "   bei Allocator.Sample.Run()\n   bei App.Main()")]
    [InlineData("   at Allocator.Lifetime.FinalizableGuard.X()", "   at Allocator.Lifetime.FinalizableGuard.X()")]
    [InlineData("", "")]
    public void WithoutOwnFrames_OfAStack_KeepsWhatBeginsOutsideTheLibrary(string stack, string expected) =>
        Assert.Equal(expected, CallerStack.WithoutOwnFrames(stack));
}
