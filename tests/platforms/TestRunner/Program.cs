using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using TestRunner;

// Runs tests of an xunit assembly where there is no SDK and no test host: TestRunner.dll ASSEMBLY [[-]PART-OF-A-CLASS-NAME]...
// Started with the assembly's own dependencies: dotnet exec --depsfile … --runtimeconfig …. The exit code is 0 where none failed.
string path = Path.GetFullPath(args[0]);
AssemblyLoadContext.Default.Resolving += (context, name) =>
    Path.Combine(Path.GetDirectoryName(path)!, name.Name + ".dll") is string file && File.Exists(file)
        ? context.LoadFromAssemblyPath(file)
        : null;
return Start(path, args.Skip(1).ToArray());

// Apart: what it names is resolved when it is compiled.
[MethodImpl(MethodImplOptions.NoInlining)]
static int Start(string path, string[] classes) => TestRun.Run(path, classes) ? 0 : 1;
