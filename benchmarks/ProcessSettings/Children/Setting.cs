using System.Collections.Generic;

namespace ProcessSettings.Children;

/// <summary>Environment variables that a child is started with.</summary>
/// <param name="Name">What tables call them.</param>
/// <param name="Variables">Names and values.</param>
internal sealed record Setting(string Name, IReadOnlyDictionary<string, string> Variables)
{
    private static readonly string[] s_prefixes = ["MALLOC_", "DOTNET_GC", "DOTNET_gc", "GLIBC_TUNABLES"];

    /// <summary>Gets the setting in which nothing is set.</summary>
    public static Setting None { get; } = new("none", new Dictionary<string, string>());

    /// <summary>Makes one of <c>NAME=value</c>, several of them divided by blanks.</summary>
    public static Setting Parse(string text)
    {
        Dictionary<string, string> variables = [];
        foreach (string one in text.Split(' '))
        {
            int equals = one.IndexOf('=');
            variables[one[..equals]] = one[(equals + 1)..];
        }

        return new Setting(text, variables);
    }

    /// <summary>Sets them in <paramref name="environment"/>, from which whatever else could act in their place goes.</summary>
    public void Apply(IDictionary<string, string?> environment)
    {
        foreach (string name in (string[])[.. environment.Keys])
        {
            foreach (string prefix in s_prefixes)
            {
                if (name.StartsWith(prefix, System.StringComparison.Ordinal))
                {
                    _ = environment.Remove(name);
                }
            }
        }

        foreach ((string name, string value) in Variables)
        {
            environment[name] = value;
        }
    }
}
