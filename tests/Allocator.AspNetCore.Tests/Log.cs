using System.Collections.Concurrent;

namespace Allocator.AspNetCore.Tests;

/// <summary>Keeps what an application logs.</summary>
internal sealed class Log : ILoggerProvider
{
    private readonly ConcurrentQueue<Entry> _entries = new();

    /// <summary>Gets what the package under test has logged.</summary>
    public IReadOnlyList<Entry> Entries =>
        [.. _entries.Where(entry => entry.Category.StartsWith("Allocator.AspNetCore", StringComparison.Ordinal))];

    public ILogger CreateLogger(string categoryName) => new Logger(this, categoryName);

    public void Dispose()
    {
    }

    public sealed record Entry(string Category, LogLevel Level, int Id, string Message, Exception? Exception);

    private sealed class Logger(Log log, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            log._entries.Enqueue(new Entry(category, logLevel, eventId.Id, formatter(state, exception), exception));
    }
}
