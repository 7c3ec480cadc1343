using Mono.Cecil;

namespace AccessWeaver;

/// <summary>
/// Has the plain reads and writes of an assembly's types tell where they go: <c>AccessWeaver assembly namespace [field…]</c>. What lies
/// below the namespace is the explorer's own, has the class that is told, and is left as it is. Accesses of the fields that are named
/// become steps of a schedule. <c>AccessWeaver allocations assembly copy [folder…]</c> writes a copy of which any allocation can be made
/// to fail; the folders have what it refers to.
/// </summary>
internal static class Program
{
    public static int Main(string[] args)
    {
        if (args[0] == "allocations")
        {
            WeaveAllocations(args[1], args[2], args[3..]);
            return 0;
        }

        string path = args[0];
        ReaderParameters reading = new() { ReadSymbols = true, InMemory = true };
        using AssemblyDefinition assembly = AssemblyDefinition.ReadAssembly(path, reading);
        ModuleDefinition module = assembly.MainModule;
        TypeDefinition told = module.GetType($"{args[1]}.Interleaving.Atomics.Plain")
            ?? throw new InvalidOperationException($"{Path.GetFileName(path)} has no class that is told of plain accesses.");
        MethodWeaver weaver = new(told, args.Skip(2).ToHashSet());
        int count = 0;
        foreach (TypeDefinition type in module.GetTypes().Where(type => IsOfLibrary(type, args[1])))
        {
            foreach (MethodDefinition method in type.Methods.Where(static method => method.HasBody))
            {
                count += weaver.Weave(method);
            }
        }

        assembly.Write(path, new WriterParameters { WriteSymbols = true });
        if (weaver.Unused is { Length: > 0 } unused)
        {
            Console.Error.WriteLine($"error: no such field is accessed: {unused}");
            return 1;
        }

        Console.WriteLine($"{count} plain accesses are told.");
        return 0;
    }

    private static void WeaveAllocations(string path, string copy, string[] folders)
    {
        using DefaultAssemblyResolver resolver = new();
        resolver.AddSearchDirectory(Path.GetDirectoryName(Path.GetFullPath(path)));
        resolver.AddSearchDirectory(Path.GetDirectoryName(typeof(object).Assembly.Location));
        Array.ForEach(folders, resolver.AddSearchDirectory);
        using AssemblyDefinition assembly = AssemblyDefinition.ReadAssembly(path, new ReaderParameters { AssemblyResolver = resolver });
        TypeDefinition[] types = [.. assembly.MainModule.GetTypes()];
        AllocationWeaver weaver = new(assembly.MainModule);
        int count = types.SelectMany(static type => type.Methods).Where(static method => method.HasBody).Sum(weaver.Weave);
        assembly.Write(copy);
        Console.WriteLine($"{count} allocations can fail.");
    }

    private static bool IsOfLibrary(TypeDefinition type, string explorer)
    {
        string name = type.FullName;
        return name.StartsWith("Allocator.", StringComparison.Ordinal) && !name.StartsWith(explorer + ".", StringComparison.Ordinal);
    }
}
