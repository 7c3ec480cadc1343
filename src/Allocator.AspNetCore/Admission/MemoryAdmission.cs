using Allocator.AspNetCore.Configuration;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Mvc.RazorPages;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;

namespace Allocator.AspNetCore.Admission;

/// <summary>
/// Runs in front of one endpoint: receives the body, reserves memory, runs the endpoint, and ends the reservation. It is the endpoint's
/// request delegate, so no code can forget to call it. It is also metadata of the endpoint, by which <see cref="EndpointCheck"/> finds it.
/// </summary>
internal sealed class MemoryAdmission
{
    // More than any budget, and less than the size that a reservation refuses as absurd.
    private const long MoreThanAnyBudget = 1L << 58;

    private readonly RequestDelegate _endpoint;
    private readonly EndpointUse _use = new();
    private MemoryRequirement _requirement;
    private MemoryAllocator? _checked;

    private MemoryAdmission(RequestDelegate endpoint, MemoryRequirement requirement)
    {
        _endpoint = endpoint;
        _requirement = requirement;
    }

    /// <summary>Puts an admission in front of an endpoint. An admission that is already there gets this requirement instead.</summary>
    /// <exception cref="InvalidOperationException">It would never run, because another endpoint is executed instead.</exception>
    public static void Require(EndpointBuilder endpoint, MemoryRequirement requirement)
    {
        if (endpoint.Metadata.OfType<MemoryAdmission>().FirstOrDefault() is { } present)
        {
            present._requirement = requirement;
            return;
        }

        ThrowIfNeverRun(endpoint.DisplayName, endpoint.Metadata);
        if (endpoint.RequestDelegate is null)
        {
            throw new InvalidOperationException(
                $"RequireMemory cannot stand in front of {endpoint.DisplayName ?? "this endpoint"}: what runs is decided later, as by "
                + "Razor components in older versions of ASP.NET Core. Use it on controllers, minimal APIs or request delegates.");
        }

        MemoryAdmission admission = new(endpoint.RequestDelegate, requirement);
        endpoint.RequestDelegate = admission.InvokeAsync;
        endpoint.Metadata.Add(admission);
    }

    /// <summary>
    /// Refuses an endpoint if another one is executed in its place. Checked again when the application starts: conventions of groups run
    /// before their endpoints have this metadata.
    /// </summary>
    /// <exception cref="InvalidOperationException">It would never run.</exception>
    public static void ThrowIfNeverRun(string? endpointName, IEnumerable<object> metadata)
    {
        if (metadata.Any(static item => item is IDynamicEndpointMetadata { IsDynamic: true } or PageActionDescriptor))
        {
            throw new InvalidOperationException(
                $"RequireMemory has no effect on {endpointName}: Razor pages and dynamic routes run another endpoint in its place. "
                + "Use it on controllers, minimal APIs or request delegates.");
        }
    }

    /// <summary>Finds the allocator that requests reserve from, and checks that it has a limit.</summary>
    /// <exception cref="InvalidOperationException">There is no such allocator, or it has no limit, so nothing would ever wait.</exception>
    public MemoryAllocator FindAllocator(IServiceProvider services)
    {
        string name = _requirement.AllocatorName;
        MemoryAllocator allocator = AllocatorName.FindRequired(services, name);
        if (!ReferenceEquals(allocator, Volatile.Read(ref _checked)))
        {
            bool isLimited = services.GetService<RunningAllocators>()?.IsLimited(allocator) ?? RefusesAnything(allocator);
            Volatile.Write(ref _checked, isLimited ? allocator : throw new InvalidOperationException(
                $"{AllocatorName.Describe(name)} has no limit, so that RequireMemory would let every request in. Set "
                + "MemoryBudgetMegabytes or MinimumFreeMegabytes in its options."));
        }

        return allocator;
    }

    // The options of an allocator that was created elsewhere are unknown.
    private static bool RefusesAnything(MemoryAllocator allocator)
    {
        if (allocator.TryReserve(MoreThanAnyBudget, out MemoryReservation? reservation))
        {
            reservation.Dispose();
            return false;
        }

        return true;
    }

    private async Task InvokeAsync(HttpContext context)
    {
        MemoryAllocator allocator = FindAllocator(context.RequestServices);
        AdmittedRequest request = new(context, allocator, _requirement);
        await request.RunAsync(_endpoint);
        request.NoteUse(_use);
    }
}
