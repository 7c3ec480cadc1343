using System;
using Microsoft.Extensions.Logging;

namespace Allocator.AspNetCore.Tests;

/// <summary>One line of a log.</summary>
internal sealed record LogEntry(string Category, LogLevel Level, int Id, string Message, Exception? Exception);
