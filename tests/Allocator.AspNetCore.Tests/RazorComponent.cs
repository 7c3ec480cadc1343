using Microsoft.AspNetCore.Components;

namespace Allocator.AspNetCore.Tests;

/// <summary>A page that has nothing on it.</summary>
[Route("/component")]
public sealed class RazorComponent : IComponent
{
    public void Attach(RenderHandle renderHandle)
    {
    }

    public Task SetParametersAsync(ParameterView parameters) => Task.CompletedTask;
}
