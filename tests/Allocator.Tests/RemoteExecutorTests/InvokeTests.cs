using System.Diagnostics;

namespace Allocator.Tests.RemoteExecutorTests;

/// <summary>A child that fails, or would run with other values, fails its test. The tests that use it see all else.</summary>
public class InvokeTests
{
    [Fact]
    public void Invoke_ActionThatThrows_SurfacesTheChildsException()
    {
        RemoteInvokeHandle handle = RemoteExecutor.Invoke(Child);

        RemoteExecutionException exception = Assert.Throws<RemoteExecutionException>(handle.Dispose);
        Assert.Contains(nameof(InvalidOperationException), exception.Message, StringComparison.Ordinal);
        Assert.Contains("the child's own words", exception.Message, StringComparison.Ordinal);

        static void Child() => throw new InvalidOperationException("the child's own words");
    }

    [Fact]
    public void Invoke_AsynchronousMethodThatThrows_SurfacesTheChildsException()
    {
        RemoteInvokeHandle handle = RemoteExecutor.Invoke(Child);

        RemoteExecutionException exception = Assert.Throws<RemoteExecutionException>(handle.Dispose);
        Assert.Contains("thrown after the first await", exception.Message, StringComparison.Ordinal);

        static async Task Child()
        {
            await Task.Yield();
            throw new InvalidOperationException("thrown after the first await");
        }
    }

    [Fact]
    public void Invoke_MethodThatCrashesTheProcess_ReportsExitCodeAndStandardError()
    {
        RemoteInvokeHandle handle = RemoteExecutor.Invoke(static () => Environment.FailFast("the runtime's last words"));

        RemoteExecutionException exception = Assert.Throws<RemoteExecutionException>(handle.Dispose);
        Assert.Contains("exit code", exception.Message, StringComparison.Ordinal);
        Assert.Contains("the runtime's last words", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Invoke_AnotherExitCode_IsAFailureUnlessExpected()
    {
        Assert.Throws<RemoteExecutionException>(RemoteExecutor.Invoke(static () => 7).Dispose);

        using RemoteInvokeHandle expected = RemoteExecutor.Invoke(static () => 7, new RemoteInvokeOptions { ExpectedExitCode = 7 });
        using RemoteInvokeHandle ignored = RemoteExecutor.Invoke(static () => 7, new RemoteInvokeOptions { CheckExitCode = false });
    }

    [Fact]
    public void Invoke_CapturedLocal_IsRefusedWithItsName()
    {
        int captured = Environment.TickCount;

        ArgumentException exception = Assert.Throws<ArgumentException>(() => RemoteExecutor.Invoke(() => captured));
        Assert.Contains(nameof(captured), exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Dispose_ChildThatDoesNotEnd_KillsIt()
    {
        RemoteInvokeHandle handle = RemoteExecutor.Invoke(
            static () => Thread.Sleep(Timeout.Infinite), new RemoteInvokeOptions { TimeOut = 500 });
        using Process process = Process.GetProcessById(handle.Process.Id);

        RemoteExecutionException exception = Assert.Throws<RemoteExecutionException>(handle.Dispose);
        Assert.Contains("500 ms", exception.Message, StringComparison.Ordinal);
        Assert.True(process.HasExited);
    }
}
