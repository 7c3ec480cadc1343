using Mono.Cecil;
using Mono.Cecil.Cil;
using Mono.Cecil.Rocks;

namespace AccessWeaver;

/// <summary>Puts a call before each plain access of a method, with the address, the size and where it is in the source.</summary>
internal sealed class MethodWeaver
{
    private readonly TypeDefinition _told;
    private readonly HashSet<string> _steps;
    private readonly HashSet<string> _found = [];

    /// <summary>Makes one; accesses of the fields that are named <c>Type.field</c> are steps.</summary>
    public MethodWeaver(TypeDefinition told, HashSet<string> steps)
    {
        _told = told;
        _steps = steps;
    }

    /// <summary>Gets which of the named fields were never found.</summary>
    public string Unused => string.Join(", ", _steps.Except(_found));

    /// <summary>Returns how many accesses there are.</summary>
    public int Weave(MethodDefinition method)
    {
        MethodBody body = method.Body;
        body.SimplifyMacros();
        int count = 0;
        string line = "";
        foreach (Instruction instruction in body.Instructions.ToArray())
        {
            if (method.DebugInformation.GetSequencePoint(instruction) is { IsHidden: false } point)
            {
                line = $"{Path.GetFileName(point.Document.Url)}:{point.StartLine}";
            }

            if (Access.Find(method, instruction) is Access access)
            {
                Weave(body, instruction, access, $"{access.Verb} {access.Location} in {method.DeclaringType.Name}.{method.Name}, {line}");
                count++;
            }
        }

        body.OptimizeMacros();
        return count;
    }

    // The instruction itself becomes the first of those that replace it: jumps to it stay right.
    private void Weave(MethodBody body, Instruction instruction, Access access, string site)
    {
        if (_steps.Contains(access.Location))
        {
            _found.Add(access.Location);
            Replace(body, instruction, access, site);
            return;
        }

        ILProcessor il = body.GetILProcessor();
        List<Instruction> all = [];
        VariableDefinition? value = access.IsWrite && access.HasValue ? Add(body, access.Type) : null;
        VariableDefinition? index = access.IsElement ? Add(body, access.Type.Module.TypeSystem.IntPtr) : null;
        if (value is not null)
        {
            all.Add(il.Create(OpCodes.Stloc, value));
        }

        if (index is not null)
        {
            all.Add(il.Create(OpCodes.Conv_I));
            all.Add(il.Create(OpCodes.Stloc, index));
        }

        if (!access.IsStatic)
        {
            all.Add(il.Create(OpCodes.Dup));
        }

        if (index is not null)
        {
            all.Add(il.Create(OpCodes.Ldloc, index));
            all.Add(il.Create(OpCodes.Readonly));
            all.Add(il.Create(OpCodes.Ldelema, access.Type));
        }
        else if (access.Field is FieldReference field)
        {
            all.Add(il.Create(access.IsStatic ? OpCodes.Ldsflda : OpCodes.Ldflda, field));
        }

        all.Add(il.Create(OpCodes.Conv_U));
        all.Add(il.Create(OpCodes.Sizeof, access.Type));
        all.Add(il.Create(OpCodes.Ldstr, site));
        all.Add(il.Create(OpCodes.Call, Told(access.IsWrite ? "Write" : "Read")));
        if (index is not null)
        {
            all.Add(il.Create(OpCodes.Ldloc, index));
        }

        if (value is not null)
        {
            all.Add(il.Create(OpCodes.Ldloc, value));
        }

        Instruction last = il.Create(OpCodes.Nop);
        last.OpCode = instruction.OpCode;
        last.Operand = instruction.Operand;
        all.Add(last);
        Insert(il, instruction, all);
    }

    // The access itself is the called method's.
    private void Replace(MethodBody body, Instruction instruction, Access access, string site)
    {
        ILProcessor il = body.GetILProcessor();
        List<Instruction> all = [];
        VariableDefinition? value = access.IsWrite ? Add(body, access.Type) : null;
        if (value is not null)
        {
            all.Add(il.Create(OpCodes.Stloc, value));
        }

        all.Add(il.Create(access.IsStatic ? OpCodes.Ldsflda : OpCodes.Ldflda, access.Field));
        if (value is not null)
        {
            all.Add(il.Create(OpCodes.Ldloc, value));
        }

        GenericInstanceMethod method = new(Told(access.IsWrite ? "Store" : "Load"));
        method.GenericArguments.Add(access.Type);
        all.Add(il.Create(OpCodes.Ldstr, site));
        all.Add(il.Create(OpCodes.Call, method));
        Insert(il, instruction, all);
    }

    private MethodDefinition Told(string name) => _told.Methods.First(method => method.Name == name);

    private static void Insert(ILProcessor il, Instruction instruction, List<Instruction> all)
    {
        instruction.OpCode = all[0].OpCode;
        instruction.Operand = all[0].Operand;
        Instruction after = instruction;
        foreach (Instruction next in all.Skip(1))
        {
            il.InsertAfter(after, next);
            after = next;
        }
    }

    private static VariableDefinition Add(MethodBody body, TypeReference type)
    {
        VariableDefinition variable = new(type);
        body.Variables.Add(variable);
        body.InitLocals = true;
        return variable;
    }
}
