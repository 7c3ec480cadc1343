namespace Allocator.AspNetCore.Configuration;

/// <summary>
/// Finds errors in the options at start, by creating an allocator: that validates them and takes no memory.
/// </summary>
internal sealed class OptionsValidator : IValidateOptions<MemoryAllocatorOptions>
{
    public ValidateOptionsResult Validate(string? name, MemoryAllocatorOptions options)
    {
        try
        {
            using MapThresholdListener threshold = new();
            MemoryAllocator.Create(options).Dispose();
            return ValidateOptionsResult.Success;
        }
        catch (Exception exception) when (exception is ArgumentException or InvalidOperationException)
        {
            return ValidateOptionsResult.Fail($"{AllocatorName.Describe(name)} cannot be made with these options. {exception.Message}");
        }
    }
}
