using Microsoft.Extensions.DependencyInjection;

namespace Allocator.Tests.Adapters;

public class DependencyInjectionTests
{
    [Fact]
    public void Singleton_RegisteredByFactory_IsSharedAndDisposedByTheContainer()
    {
        ServiceCollection services = new();
        services.AddSingleton(static _ => MemoryAllocator.Create());
        MemoryAllocator allocator;
        using (ServiceProvider provider = services.BuildServiceProvider())
        {
            allocator = provider.GetRequiredService<MemoryAllocator>();
            Assert.Same(allocator, provider.GetRequiredService<MemoryAllocator>());
            allocator.Allocate<byte>(100).Dispose();
        }

        Assert.Throws<ObjectDisposedException>(() => allocator.Allocate<byte>(100));
    }

    [Fact]
    public void Singleton_RegisteredAsAnInstance_IsNotDisposedByTheContainer()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        ServiceCollection services = new();
        services.AddSingleton(allocator);
        using (ServiceProvider provider = services.BuildServiceProvider())
        {
            Assert.Same(allocator, provider.GetRequiredService<MemoryAllocator>());
        }

        allocator.Allocate<byte>(100).Dispose();
    }
}
