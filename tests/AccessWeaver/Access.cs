using Mono.Cecil;
using Mono.Cecil.Cil;

namespace AccessWeaver;

/// <summary>One plain access of a method's code.</summary>
internal sealed record Access(TypeReference Type, string Location, bool IsWrite)
{
    public FieldReference? Field { get; private init; }

    public bool IsStatic { get; private init; }

    public bool IsElement { get; private init; }

    /// <summary>Gets whether a value lies on the stack above the address.</summary>
    public bool HasValue { get; private init; } = true;

    public string Verb => IsWrite ? "writes" : "reads";

    /// <summary>Returns what an instruction accesses, where that is memory that threads may share; otherwise null.</summary>
    public static Access? Find(MethodDefinition method, Instruction instruction)
    {
        // What a prefix makes volatile is no plain access.
        if (instruction.Previous?.OpCode.OpCodeType == OpCodeType.Prefix)
        {
            return null;
        }

        return instruction.OpCode.Code switch
        {
            Code.Ldfld or Code.Stfld or Code.Ldsfld or Code.Stsfld => OfField(method, instruction),
            Code.Ldelem_Any or Code.Stelem_Any => OfElement(
                (TypeReference)instruction.Operand, instruction.OpCode.Code == Code.Stelem_Any),
            Code.Ldobj or Code.Stobj or Code.Initobj => OfAddress(method, instruction, (TypeReference)instruction.Operand),
            Code code when TypeOfElement(method.Module.TypeSystem, code) is TypeReference element =>
                OfElement(element, instruction.OpCode.Name.StartsWith("st", System.StringComparison.Ordinal)),
            Code code when TypeBehind(method.Module.TypeSystem, code) is TypeReference behind => OfAddress(method, instruction, behind),
            _ => null,
        };
    }

    private static Access? OfField(MethodDefinition method, Instruction instruction)
    {
        FieldReference field = (FieldReference)instruction.Operand;
        FieldDefinition? definition = field.Resolve();
        bool isWrite = instruction.OpCode.Code is Code.Stfld or Code.Stsfld;
        bool isStatic = instruction.OpCode.Code is Code.Ldsfld or Code.Stsfld;

        // Objects that a constructor makes are no other thread's yet, and what is read-only is published with them.
        if (definition is null || definition.IsInitOnly || definition.IsLiteral || method.IsConstructor
            || field.FieldType.ContainsGenericParameter || field.FieldType.IsByReference
            || Has(field.DeclaringType.Resolve(), "IsByRefLikeAttribute") || Has(definition, "ThreadStaticAttribute"))
        {
            return null;
        }

        // A struct may be a value on the stack: only where its address is seen to be there is it memory.
        if (!isStatic && field.DeclaringType.Resolve() is { IsValueType: true } && !isWrite && !IsAddress(method, instruction.Previous))
        {
            return null;
        }

        string location = $"{definition.DeclaringType.Name}.{definition.Name}";
        return new Access(field.FieldType, location, isWrite) { Field = field, IsStatic = isStatic };
    }

    private static bool Has(ICustomAttributeProvider? of, string name) =>
        of?.CustomAttributes.Any(attribute => attribute.AttributeType.Name == name) == true;

    private static Access? OfElement(TypeReference type, bool isWrite) =>
        type.ContainsGenericParameter ? null : new Access(type, $"an element of {type.Name}[]", isWrite) { IsElement = true };

    private static Access? OfAddress(MethodDefinition method, Instruction instruction, TypeReference type)
    {
        bool isWrite = instruction.OpCode.Code is Code.Stobj or Code.Initobj
            || instruction.OpCode.Name.StartsWith("st", System.StringComparison.Ordinal);
        bool hasValue = instruction.OpCode.Code != Code.Initobj;
        bool isLocal = instruction.Previous?.OpCode.Code is Code.Ldloca or Code.Ldarga;
        return type.ContainsGenericParameter || isLocal || method.IsConstructor
            ? null : new Access(type, $"a {type.Name}", isWrite) { HasValue = hasValue };
    }

    private static bool IsAddress(MethodDefinition method, Instruction? before) => before?.OpCode.Code switch
    {
        Code.Ldflda or Code.Ldsflda or Code.Ldelema => true,
        Code.Ldarg => before.Operand is ParameterDefinition { ParameterType.IsByReference: true }
            || (before.Operand == method.Body.ThisParameter && method.DeclaringType.IsValueType),
        Code.Ldloc => ((VariableDefinition)before.Operand).VariableType.IsByReference,
        Code.Call or Code.Callvirt => ((MethodReference)before.Operand).ReturnType.IsByReference,
        _ => false,
    };

    private static TypeReference? TypeOfElement(TypeSystem types, Code code) => code switch
    {
        Code.Ldelem_I1 => types.SByte,
        Code.Ldelem_U1 or Code.Stelem_I1 => types.Byte,
        Code.Ldelem_I4 or Code.Ldelem_U4 or Code.Stelem_I4 => types.Int32,
        Code.Ldelem_I8 or Code.Stelem_I8 => types.Int64,
        Code.Ldelem_I or Code.Stelem_I => types.IntPtr,
        Code.Ldelem_Ref or Code.Stelem_Ref => types.Object,
        _ => null,
    };

    private static TypeReference? TypeBehind(TypeSystem types, Code code) => code switch
    {
        Code.Ldind_U1 or Code.Stind_I1 or Code.Ldind_I1 => types.Byte,
        Code.Ldind_I4 or Code.Ldind_U4 or Code.Stind_I4 => types.Int32,
        Code.Ldind_I8 or Code.Stind_I8 => types.Int64,
        Code.Ldind_I or Code.Stind_I => types.IntPtr,
        Code.Ldind_Ref or Code.Stind_Ref => types.Object,
        _ => null,
    };
}
