using Mono.Cecil;
using Mono.Cecil.Cil;
using Mono.Cecil.Rocks;

namespace AccessWeaver;

/// <summary>
/// Puts a call before each allocation of managed memory in a library's own code: <c>newobj</c>, <c>newarr</c> and <c>box</c>. The call
/// counts <c>AllocationSeam.Left</c> down, and throws <see cref="OutOfMemoryException"/> when that becomes 0.
/// </summary>
internal sealed class AllocationWeaver
{
    private readonly MethodDefinition _step;

    /// <summary>Makes one, and adds the class with the count.</summary>
    public AllocationWeaver(ModuleDefinition module)
    {
        TypeSystem types = module.TypeSystem;
        const TypeAttributes Static = TypeAttributes.Public | TypeAttributes.Abstract | TypeAttributes.Sealed;
        TypeDefinition seam = new("Allocator", "AllocationSeam", Static, types.Object);
        FieldDefinition left = new("Left", FieldAttributes.Public | FieldAttributes.Static, types.Int32);
        seam.Fields.Add(left);
        _step = new MethodDefinition("Step", MethodAttributes.Public | MethodAttributes.Static, types.Void);
        seam.Methods.Add(_step);
        module.Types.Add(seam);
        ILProcessor il = _step.Body.GetILProcessor();
        Instruction end = il.Create(OpCodes.Ret);
        il.Emit(OpCodes.Ldsflda, left);
        il.Emit(OpCodes.Call, module.ImportReference(
            typeof(Interlocked).GetMethod(nameof(Interlocked.Decrement), [typeof(int).MakeByRefType()])));
        il.Emit(OpCodes.Brtrue, end);
        il.Emit(OpCodes.Newobj, module.ImportReference(typeof(OutOfMemoryException).GetConstructor([])));
        il.Emit(OpCodes.Throw);
        il.Append(end);
    }

    /// <summary>Returns how many allocations there are.</summary>
    public int Weave(MethodDefinition method)
    {
        // A type initializer that fails does so for ever: the runtime's rule, not the library's.
        if (method.IsConstructor && method.IsStatic)
        {
            return 0;
        }

        MethodBody body = method.Body;
        body.SimplifyMacros();
        ILProcessor il = body.GetILProcessor();
        int count = 0;
        foreach (Instruction instruction in body.Instructions.ToArray())
        {
            if (Allocates(instruction))
            {
                // The instruction itself becomes the call: jumps to it stay right.
                Instruction allocation = il.Create(OpCodes.Nop);
                allocation.OpCode = instruction.OpCode;
                allocation.Operand = instruction.Operand;
                il.InsertAfter(instruction, allocation);
                instruction.OpCode = OpCodes.Call;
                instruction.Operand = _step;
                count++;
            }
        }

        body.OptimizeMacros();
        return count;
    }

    private static bool Allocates(Instruction instruction) => instruction.OpCode.Code switch
    {
        Code.Newarr or Code.Box => true,
        Code.Newobj => ((MethodReference)instruction.Operand).DeclaringType is not (ArrayType or { IsValueType: true })
            && ((MethodReference)instruction.Operand).DeclaringType.Resolve() is not { IsValueType: true },
        _ => false,
    };
}
