using System;

namespace Allocator;

/// <summary>Marks a parameter whose buffer is used during the call only: neither kept nor disposed.</summary>
[AttributeUsage(AttributeTargets.Parameter)]
public sealed class BorrowedAttribute : Attribute
{
}
