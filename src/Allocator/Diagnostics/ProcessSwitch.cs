using System;

namespace Allocator.Diagnostics;

/// <summary>Settings that are made without rebuilding: by a runtime property (<c>runtimeconfig.json</c>), or else by an environment variable.</summary>
internal static class ProcessSwitch
{
    /// <summary>Reads a setting.</summary>
    /// <exception cref="InvalidOperationException">It is set to something else than the name of a <typeparamref name="TValue"/>, in any case.</exception>
    public static TValue Read<TValue>(string property, string variable, TValue otherwise)
        where TValue : struct, Enum
    {
        if (AppContext.GetData(property) is object data)
        {
            return Parse<TValue>($"The runtime property {property}", data.ToString());
        }

        return Environment.GetEnvironmentVariable(variable) is { Length: > 0 } text ? Parse<TValue>($"The environment variable {variable}", text) : otherwise;
    }

    // A number would be parsed too, even one that means nothing.
    private static TValue Parse<TValue>(string source, string? text)
        where TValue : struct, Enum =>
        Enum.TryParse(text, ignoreCase: true, out TValue value) && string.Equals(value.ToString(), text, StringComparison.OrdinalIgnoreCase)
            ? value
            : throw new InvalidOperationException($"{source} is \"{text}\"; it must be one of {string.Join(", ", Enum.GetNames(typeof(TValue)))}.");
}
