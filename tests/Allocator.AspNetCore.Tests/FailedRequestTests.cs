using System.Diagnostics;
using System.Reflection;
using System.Runtime.Loader;
using Allocator.Tests;
using Xunit.Abstractions;

namespace Allocator.AspNetCore.Tests;

/// <summary>
/// Whichever allocation of the two libraries' own code fails, a request that waits for memory is answered, and the whole budget can be
/// reserved afterwards.
/// </summary>
public class FailedRequestTests(ITestOutputHelper output)
{
    [Fact]
    public void RequireMemory_AnyAllocationFails_EndsAndLosesNothing()
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("Allocations-");
        try
        {
            Weave(typeof(MemoryAllocator).Assembly, folder);
            Weave(typeof(MemoryPageExtensions).Assembly, folder);
            string figures = Path.Combine(folder.FullName, "figures");
            RemoteExecutor.Invoke(RunIn, folder.FullName, figures, new RemoteInvokeOptions { TimeOut = 300_000 }).Dispose();
            output.WriteLine(File.ReadAllText(figures));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private void Weave(Assembly library, DirectoryInfo folder)
    {
        string configuration = Path.GetFileName(Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory));
        ProcessStartInfo start = new(
            RemoteExecutor.HostRunner,
            [
                Repository.PathTo("artifacts", "bin", "AccessWeaver", configuration, "AccessWeaver.dll"), "allocations", library.Location,
                Path.Combine(folder.FullName, Path.GetFileName(library.Location)),
                Path.GetDirectoryName(typeof(HttpContext).Assembly.Location)!,
            ])
        {
            RedirectStandardOutput = true,
        };
        using Process weaving = Process.Start(start)!;
        output.WriteLine($"{library.GetName().Name}: {weaving.StandardOutput.ReadToEnd()}");
        weaving.WaitForExit();
        Assert.Equal(0, weaving.ExitCode);
    }

    // The copies have the libraries' names, and this assembly is loaded once more to use them.
    private static void RunIn(string folder, string figures)
    {
        using StringWriter written = new();
        Console.SetOut(written);
        Type runner = new Woven(folder).LoadFromAssemblyPath(typeof(FailedRequests).Assembly.Location)
            .GetType(typeof(FailedRequests).FullName!, throwOnError: true)!;
        ((Task)runner.GetMethod(nameof(FailedRequests.RunAsync))!.Invoke(null, null)!).GetAwaiter().GetResult();
        File.WriteAllText(figures, written.ToString());
    }

    private sealed class Woven(string folder) : AssemblyLoadContext("Woven")
    {
        protected override Assembly? Load(AssemblyName assemblyName) =>
            assemblyName.Name is "Allocator" or "Allocator.AspNetCore"
                ? LoadFromAssemblyPath(Path.Combine(folder, $"{assemblyName.Name}.dll"))
                : null;
    }
}
