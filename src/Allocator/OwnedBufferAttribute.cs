namespace Allocator;

/// <summary>
/// Marks a method, or an <c>out</c> parameter, whose result the caller must dispose. Every factory of this library has it; put it on your
/// own factories.
/// </summary>
[AttributeUsage(AttributeTargets.ReturnValue | AttributeTargets.Parameter)]
public sealed class OwnedBufferAttribute : Attribute;

/// <summary>Marks a parameter whose buffer is used during the call only: neither kept nor disposed.</summary>
[AttributeUsage(AttributeTargets.Parameter)]
public sealed class BorrowedAttribute : Attribute;
