using Microsoft.CodeAnalysis.Text;

namespace Allocator.Analyzers.Tests.Testing;

/// <summary>A diagnostic that a marked source asks for.</summary>
public readonly record struct ExpectedDiagnostic(string Id, TextSpan Span);
