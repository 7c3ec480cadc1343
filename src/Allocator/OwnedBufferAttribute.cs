namespace Allocator;

/// <summary>
/// Marks a method whose result must be disposed by the caller, or an <c>out</c> parameter for what it returns. Every factory of this
/// library carries it; put it on your own.
/// </summary>
[AttributeUsage(AttributeTargets.ReturnValue | AttributeTargets.Parameter)]
public sealed class OwnedBufferAttribute : Attribute;

/// <summary>Marks a parameter whose buffer is used during the call only: neither kept nor disposed.</summary>
[AttributeUsage(AttributeTargets.Parameter)]
public sealed class BorrowedAttribute : Attribute;
