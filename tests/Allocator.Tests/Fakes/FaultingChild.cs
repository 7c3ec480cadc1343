using System.Diagnostics;

namespace Allocator.Tests.Fakes;

/// <summary>Runs a method that ends its process by an access to memory, and gives what that process left behind.</summary>
internal static class FaultingChild
{
    // Of an abort, which the runtime answers a fault with; on Windows it passes the exception on.
    private static readonly int s_exitCode = OperatingSystem.IsWindows() ? unchecked((int)0xC0000005) : 134;

    private const int SegmentationFault = 139;

    /// <summary>
    /// Runs it with the argument; it writes the address that it is going to touch, in hexadecimal, by <see cref="Announce"/>.
    /// </summary>
    /// <param name="method">What it runs.</param>
    /// <param name="argument">The argument.</param>
    /// <param name="safety">The safety mode by the environment, if any.</param>
    /// <param name="isNative">Whether the access is native code's: the system ends the process then, not the runtime.</param>
    /// <param name="isRecorded">Whether it leaves a file of records.</param>
    public static FaultReport Run(
        Action<string> method, string argument, string? safety = null, bool isNative = false, bool isRecorded = true)
    {
        string path = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName() + ".records");
        int exitCode = isNative ? SegmentationFault : s_exitCode;
        RemoteInvokeOptions options = new()
        {
            ExpectedExitCode = exitCode,
            StartInfo = new ProcessStartInfo { RedirectStandardOutput = true, RedirectStandardError = true },
        };
        options.StartInfo.Environment["ALLOCATOR_RECORDS"] = path;
        options.StartInfo.Environment["DOTNET_DbgEnableMiniDump"] = "0";
        options.StartInfo.Environment.Remove("ALLOCATOR_SAFETY");
        if (safety is not null)
        {
            options.StartInfo.Environment["ALLOCATOR_SAFETY"] = safety;
        }

        try
        {
            using RemoteInvokeHandle child = RemoteExecutor.Invoke(method, argument, options);
            Task<string> errors = child.Process.StandardError.ReadToEndAsync();
            string output = child.Process.StandardOutput.ReadToEnd().Trim();
            Assert.Equal(exitCode, child.ExitCode);
            Assert.Equal(isRecorded, File.Exists(path));
            return new FaultReport(
                isRecorded ? AllocationRecords.Open(path) : null,
                Convert.ToInt64(output, 16),
                errors.GetAwaiter().GetResult(),
                child.Process.Id);
        }
        finally
        {
            File.Delete(path);
        }
    }

    /// <summary>In the child: says which address it touches next.</summary>
    public static void Announce(nint address)
    {
        Console.Out.Write(((long)address).ToString("x"));
        Console.Out.Flush();
    }
}
