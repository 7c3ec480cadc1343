using Mono.Cecil;

namespace AccessWeaver;

/// <summary>
/// Has the plain reads and writes of an assembly's types tell where they go: <c>AccessWeaver assembly namespace [field…]</c>. What lies
/// below the namespace is the explorer's own, has the class that is told, and is left as it is. Accesses of the fields that are named
/// become steps of a schedule.
/// </summary>
internal static class Program
{
    public static int Main(string[] args)
    {
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

    private static bool IsOfLibrary(TypeDefinition type, string explorer)
    {
        string name = type.FullName;
        return name.StartsWith("Allocator.", StringComparison.Ordinal) && !name.StartsWith(explorer + ".", StringComparison.Ordinal);
    }
}
