using System.Diagnostics;

namespace Allocator.Tests.RemoteExecutorTests;

public class InvokeTests
{
    [Fact]
    public void Invoke_Action_RunsInAnotherProcess() =>
        RemoteExecutor.Invoke(
            static parent => Assert.NotEqual(parent, Environment.ProcessId.ToString()),
            Environment.ProcessId.ToString()).Dispose();

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
    public void Invoke_ThreeArguments_ArriveUnchanged() =>
        RemoteExecutor.Invoke(
            static (plain, quoted, empty) =>
            {
                Assert.Equal("plain", plain);
                Assert.Equal("with spaces, \"quotes\", a \\ and ü", quoted);
                Assert.Equal("", empty);
            },
            "plain",
            "with spaces, \"quotes\", a \\ and ü",
            "").Dispose();

    [Fact]
    public void Invoke_LocalFunction_Runs()
    {
        RemoteExecutor.Invoke(Child, "3", "4").Dispose();

        static int Child(string left, string right) => int.Parse(left) * 10 + int.Parse(right) + 8;
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
    public void Invoke_EnvironmentVariable_ReachesTheChild()
    {
        RemoteInvokeOptions options = new() { Environment = { ["REMOTE_EXECUTOR_TEST"] = "seen" } };

        RemoteExecutor.Invoke(static () => Assert.Equal("seen", Environment.GetEnvironmentVariable("REMOTE_EXECUTOR_TEST")), options)
            .Dispose();
    }

    [Fact]
    public void Invoke_RuntimeConfigurationOption_ReachesTheChild()
    {
        RemoteInvokeOptions options = new();
        options.RuntimeConfigurationOptions["RemoteExecutor.Test"] = "seen";

        RemoteExecutor.Invoke(static () => Assert.Equal("seen", AppContext.GetData("RemoteExecutor.Test")), options).Dispose();
    }

    [Fact]
    public void Invoke_RedirectedOutput_CanBeRead()
    {
        RemoteInvokeOptions options = new() { StartInfo = new ProcessStartInfo { RedirectStandardOutput = true } };

        using RemoteInvokeHandle handle = RemoteExecutor.Invoke(static () => Console.Write("said"), options);
        Assert.Equal("said", handle.Process.StandardOutput.ReadToEnd());
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

    [Fact]
    public void Dispose_AfterFailure_LeavesNoFileBehind()
    {
        RemoteInvokeOptions options = new();
        options.RuntimeConfigurationOptions["RemoteExecutor.Test"] = 1;
        Assert.Throws<RemoteExecutionException>(RemoteExecutor.Invoke(static () => Assert.Fail("on purpose"), options).Dispose);

        Assert.Empty(Directory.GetFiles(Path.GetTempPath(), Path.GetFileName(options.ExceptionFile) + "*"));
    }

    [Fact]
    public void ExitCode_BeforeDispose_WaitsForTheEnd()
    {
        using RemoteInvokeHandle handle = RemoteExecutor.Invoke(static () => -1, new RemoteInvokeOptions { ExpectedExitCode = -1 });

        Assert.Equal(OperatingSystem.IsWindows() ? -1 : 255, handle.ExitCode);
    }
}
