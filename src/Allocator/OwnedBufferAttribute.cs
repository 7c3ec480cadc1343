using System;

namespace Allocator;

/// <summary>
/// Marks a method whose result must be disposed by the caller, or an <c>out</c> parameter for what it hands out. Every factory of this
/// library carries it; put it on your own.
/// </summary>
[AttributeUsage(AttributeTargets.ReturnValue | AttributeTargets.Parameter)]
public sealed class OwnedBufferAttribute : Attribute
{
}
