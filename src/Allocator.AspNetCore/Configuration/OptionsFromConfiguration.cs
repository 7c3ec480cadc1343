using Microsoft.Extensions.Configuration;

namespace Allocator.AspNetCore.Configuration;

/// <summary>Sets the options of one allocator from a section of the configuration, and refuses keys that would have no effect.</summary>
internal class OptionsFromConfiguration : IConfigureNamedOptions<MemoryAllocatorOptions>
{
    public OptionsFromConfiguration(string name, IConfiguration section)
    {
        Name = name;
        Section = section;
    }

    /// <summary>Gets the name of the options.</summary>
    public string Name { get; }

    /// <summary>Gets the section that is bound, and watched for changes.</summary>
    public IConfiguration Section { get; }

    public void Configure(MemoryAllocatorOptions options) => Configure(Options.DefaultName, options);

    public void Configure(string? name, MemoryAllocatorOptions options)
    {
        if (name != Name)
        {
            return;
        }

        List<string> failures = [];
        ConfiguredOptions configured = new();
        try
        {
            Section.Bind(configured);
        }
        catch (InvalidOperationException exception)
        {
            failures.Add($"{exception.Message} Correct the value, or remove the key for the default.");
        }

        AddUselessKeys(failures);
        if (failures.Count > 0)
        {
            throw new OptionsValidationException(Name, typeof(MemoryAllocatorOptions), failures);
        }

        configured.ApplyTo(options);
    }

    // Otherwise a misspelt key would mean no budget, which would show weeks later. Only a section is checked, because the root has
    // everybody's keys; subsections may belong to other allocators.
    private void AddUselessKeys(List<string> failures)
    {
        if (Section is not IConfigurationSection)
        {
            return;
        }

        foreach (IConfigurationSection child in Section.GetChildren())
        {
            bool isKnown = OptionKeys.IsKnown(child.Key);
            if (!isKnown && child.Value is not null)
            {
                failures.Add(
                    $"'{child.Path}' is '{child.Value}', but a memory allocator has no option {child.Key}. Correct or remove the key. "
                    + $"The options are: {string.Join(", ", OptionKeys.All)}.");
            }
            else if (isKnown && child.GetChildren().GetEnumerator().MoveNext())
            {
                failures.Add($"'{child.Path}' has keys below it; it must be one value.");
            }
        }
    }
}
