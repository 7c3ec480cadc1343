using Microsoft.CodeAnalysis.Text;

namespace Allocator.Analyzers.Tests.CodeFixes.Using;

/// <summary>Where <c>using</c> and the space behind it stood, and where the statement ends that it began.</summary>
internal sealed record DeletedKeyword(string Path, TextSpan Span, int StatementEnd);
