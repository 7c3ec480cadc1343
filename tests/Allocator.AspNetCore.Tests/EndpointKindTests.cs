using Allocator.AspNetCore.Admission;
using Microsoft.AspNetCore.Mvc.RazorPages;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Routing.Patterns;

namespace Allocator.AspNetCore.Tests;

/// <summary>
/// It runs in front of every kind of endpoint. Where it could not, or would be of no use, the application does not start.
/// </summary>
public class EndpointKindTests
{
    private static readonly MemoryRequirement s_requirement =
        new("", RequirementKind.Bytes, static _ => new ValueTask<long>(1), TimeSpan.Zero);

    [Theory]
    [InlineData("/minimal", "1")]
    [InlineData("/delegate", "2")]
    [InlineData("/group/first", "3")]
    [InlineData("/group/second", "4")]
    [InlineData("/attributed", "5")]
    [InlineData("/Reservation/Conventional", "5")]
    [InlineData("/filtered", "6")]
    [InlineData("/anything/else", "7")]
    public async Task Endpoint_OfAnyKind_HasItsReservation(string path, string expected)
    {
        await using Service service = await Service.StartAsync(
            app =>
            {
                app.MapGet("/minimal", Reserved).RequireMemory(_ => new ValueTask<long>(1));
                app.MapGet("/delegate", (RequestDelegate)(context => context.Response.WriteAsync($"{Reserved(context)}")))
                    .RequireMemory(_ => new ValueTask<long>(2));
                RouteGroupBuilder group = app.MapGroup("/group").RequireMemory(_ => new ValueTask<long>(3));
                group.MapGet("/first", Reserved);
                group.MapGet("/second", Reserved).RequireMemory(_ => new ValueTask<long>(4));
                app.MapControllers().RequireMemory(_ => new ValueTask<long>(5));
                app.MapControllerRoute("conventional", "{controller}/{action}");
                app.MapGet("/filtered", Reserved).AddEndpointFilter(static (context, next) => next(context))
                    .RequireMemory(_ => new ValueTask<long>(6));
                app.MapFallback(Reserved).RequireMemory(_ => new ValueTask<long>(7));
            },
            builder =>
            {
                builder.Services.AddControllers().AddApplicationPart(typeof(ReservationController).Assembly);
                builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = 1);
            });

        Assert.Equal(expected, await service.Client.GetStringAsync(path));
    }

    [Fact]
    public async Task Start_AllocatorWithoutLimit_SaysWhatToSet()
    {
        InvalidOperationException exception = await Assert.ThrowsAsync<InvalidOperationException>(() => Service.StartAsync(
            app => app.MapGet("/", () => "").RequireMemory(_ => new ValueTask<long>(1)),
            builder => builder.Services.AddMemoryAllocator(static options => options.MinimumFreeMegabytes = 0)));

        Assert.Contains("MemoryBudgetMegabytes or MinimumFreeMegabytes", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Start_NameWithoutAllocator_SaysWhatToCall()
    {
        InvalidOperationException exception = await Assert.ThrowsAsync<InvalidOperationException>(() => Service.StartAsync(
            app => app.MapGet("/", () => "").RequireMemory("uploads", _ => new ValueTask<long>(1))));

        Assert.Contains("AddMemoryAllocator(\"uploads\")", exception.Message, StringComparison.Ordinal);
    }

    /// <summary>What a group asks for is known before its endpoints have their metadata.</summary>
    [Theory]
    [InlineData("dynamic")]
    [InlineData("dynamic of a group")]
    [InlineData("page of a group")]
    public async Task Start_EndpointExecutesAnother_Fails(string kind)
    {
        InvalidOperationException exception = await Assert.ThrowsAsync<InvalidOperationException>(() => Service.StartAsync(
            app =>
            {
                RouteGroupBuilder group = app.MapGroup("/group").RequireMemory(_ => new ValueTask<long>(1));
                if (kind == "dynamic")
                {
                    app.MapFallbackToController("Conventional", "Reservation").RequireMemory(_ => new ValueTask<long>(1));
                }
                else if (kind == "dynamic of a group")
                {
                    group.MapFallbackToController("Conventional", "Reservation");
                }
                else
                {
                    group.MapGet("/page", Reserved).WithMetadata(new PageActionDescriptor());
                }
            },
            builder =>
            {
                builder.Services.AddControllers().AddApplicationPart(typeof(ReservationController).Assembly);
                builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = 1);
            }));

        Assert.Contains("no effect", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task RazorComponents_AboveTheBudget_AreRefused()
    {
        await using Service service = await Service.StartAsync(
            app =>
            {
                app.UseAntiforgery();
                app.MapRazorComponents<RazorComponent>().RequireMemory(_ => new ValueTask<long>(2 << 20));
            },
            builder =>
            {
                builder.Services.AddRazorComponents();
                builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = 1);
            });

        using HttpResponseMessage response = await service.Client.GetAsync("/component");

        Assert.Equal(413, (int)response.StatusCode);
    }

    [Fact]
    public void Require_EndpointWithoutADelegate_IsRefused()
    {
        RouteEndpointBuilder component = new(requestDelegate: null, RoutePatternFactory.Parse("/component"), order: 0);

        InvalidOperationException exception = Assert.Throws<InvalidOperationException>(
            () => MemoryAdmission.Require(component, s_requirement));

        Assert.Contains("Razor components", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Require_OfARazorPage_IsRefused()
    {
        RouteEndpointBuilder page = new(static _ => Task.CompletedTask, RoutePatternFactory.Parse("/page"), order: 0);
        page.Metadata.Add(new PageActionDescriptor());

        Assert.Throws<InvalidOperationException>(
            () => MemoryAdmission.Require(page, s_requirement));
    }

    /// <summary>Registered by hand, it works as well, and is looked at by the first request.</summary>
    [Theory]
    [InlineData(64, 200)]
    [InlineData(null, 500)]
    public async Task Allocator_RegisteredByHand_ReservesIfItHasALimit(int? budget, int status)
    {
        await using Service service = await Service.StartAsync(
            app => app.MapGet("/", Reserved).RequireMemory(_ => new ValueTask<long>(1)),
            builder => builder.Services.AddSingleton(
                _ => MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = budget })));

        using HttpResponseMessage response = await service.Client.GetAsync("/");

        Assert.Equal(status, (int)response.StatusCode);
        Assert.Equal(0, service.Used);
    }

    private static long Reserved(HttpContext context) => context.GetMemoryReservation().ReservedBytes;
}
