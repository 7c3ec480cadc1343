using System;

namespace Allocator;

/// <summary>Marks a method whose result must be disposed by the caller. Every factory of this library carries it; put it on your own.</summary>
[AttributeUsage(AttributeTargets.ReturnValue)]
public sealed class OwnedBufferAttribute : Attribute
{
}
