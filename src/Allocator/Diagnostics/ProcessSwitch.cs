namespace Allocator.Diagnostics;

/// <summary>Settings without rebuilding: AppContext data (<c>runtimeconfig.json</c>), or else an environment variable.</summary>
internal static class ProcessSwitch
{
    /// <summary>Reads a setting of the running process.</summary>
    /// <exception cref="InvalidOperationException">It is set, and to no name of the enum, in any case.</exception>
    public static TValue Read<TValue>(string property, string variable, TValue otherwise)
        where TValue : struct, Enum =>
        Read(property, AppContext.GetData(property), variable, Environment.GetEnvironmentVariable(variable), otherwise);

    public static TValue Read<TValue>(string property, object? data, string variable, string? environment, TValue otherwise)
        where TValue : struct, Enum =>
        Parse<TValue>($"The AppContext data {property}", data?.ToString())
        ?? Parse<TValue>($"The environment variable {variable}", environment)
        ?? otherwise;

    // Enum.TryParse takes numbers, and lists of names, too.
    private static TValue? Parse<TValue>(string source, string? text)
        where TValue : struct, Enum
    {
        string name = (text ?? string.Empty).Trim();
        return name.Length == 0 ? null
            : Enum.TryParse(name, ignoreCase: true, out TValue value)
                && string.Equals(name, value.ToString(), StringComparison.OrdinalIgnoreCase)
            ? value
            : throw new InvalidOperationException(
                $"{source} is \"{name}\"; it must be one of {string.Join(", ", Enum.GetNames(typeof(TValue)))}.");
    }
}
