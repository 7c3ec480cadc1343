using System.Diagnostics;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.Loader;
using Xunit.Abstractions;

namespace Allocator.Tests.Architecture;

/// <summary>Copies of libraries in which each allocation is counted, and any can be made to fail.</summary>
internal static class CountedAllocations
{
    /// <summary>Returns how many allocations are left until one fails.</summary>
    public delegate ref int Left();

    /// <summary>Runs a method of this assembly on copies, in a process of its own. What it prints is shown with the test.</summary>
    /// <param name="method">Static, public and without parameters; may return a task.</param>
    /// <param name="output">Shows it.</param>
    /// <param name="folders">Have what the libraries refer to, beside themselves and the runtime.</param>
    /// <param name="libraries">A type of each.</param>
    public static void Run(Delegate method, ITestOutputHelper output, string[] folders, params Type[] libraries)
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("Allocations-");
        try
        {
            foreach (Type library in libraries)
            {
                output.WriteLine(Weave(library.Assembly.Location, folder.FullName, folders));
            }

            RemoteExecutor.Invoke(
                RunIn, folder.FullName, method.Method.DeclaringType!.FullName!, method.Method.Name,
                new RemoteInvokeOptions { TimeOut = 300_000 }).Dispose();
            output.WriteLine(File.ReadAllText(Figures(folder.FullName)));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    public static Left LeftOf(Type type)
    {
        FieldInfo field = type.Assembly.GetType("Allocator.AllocationSeam", throwOnError: true)!.GetField("Left")!;
        DynamicMethod getter = new("Left", typeof(int).MakeByRefType(), [], type.Module, skipVisibility: true);
        ILGenerator il = getter.GetILGenerator();
        il.Emit(OpCodes.Ldsflda, field);
        il.Emit(OpCodes.Ret);
        return getter.CreateDelegate<Left>();
    }

    private static string Weave(string library, string folder, string[] folders)
    {
        string configuration = Path.GetFileName(Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory));
        string weaver = Repository.PathTo("artifacts", "bin", "AccessWeaver", configuration, "AccessWeaver.dll");
        ProcessStartInfo start = new(
            RemoteExecutor.HostRunner, [weaver, "allocations", library, Path.Combine(folder, Path.GetFileName(library)), .. folders])
        {
            RedirectStandardOutput = true,
        };
        using Process weaving = Process.Start(start)!;
        string printed = weaving.StandardOutput.ReadToEnd();
        weaving.WaitForExit();
        Assert.True(weaving.ExitCode == 0, printed);
        return $"{Path.GetFileName(library)}: {printed}";
    }

    // The copies have the libraries' names, and this assembly is loaded once more to use them.
    private static void RunIn(string folder, string type, string method)
    {
        using StringWriter written = new();
        Console.SetOut(written);
        Type runner = new Woven(folder).LoadFromAssemblyPath(typeof(CountedAllocations).Assembly.Location)
            .GetType(type, throwOnError: true)!;
        object? result = runner.GetMethod(method)!.Invoke(null, BindingFlags.DoNotWrapExceptions, null, null, null);
        (result as Task)?.GetAwaiter().GetResult();
        File.WriteAllText(Figures(folder), written.ToString());
    }

    private static string Figures(string folder) => Path.Combine(folder, "figures");

    private sealed class Woven(string folder) : AssemblyLoadContext("Woven")
    {
        protected override Assembly? Load(AssemblyName assemblyName) =>
            Path.Combine(folder, $"{assemblyName.Name}.dll") is string copy && File.Exists(copy) ? LoadFromAssemblyPath(copy) : null;
    }
}
