using System.Text;
using Allocator.AspNetCore.Configuration;
using Allocator.Tests;
using Allocator.Tests.Documentation;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Options;

namespace Allocator.AspNetCore.Tests;

/// <summary>
/// The examples of the guides are web applications: each compiles without a warning and starts. The tables are complete.
/// </summary>
public class GuideTests
{
    private static readonly string s_configurationPage = File.ReadAllText(Repository.PathTo("docs", "integrations", "configuration.md"));

    public static TheoryData<string, int> Blocks()
    {
        TheoryData<string, int> blocks = [];
        foreach (CodeBlock block in CodeBlock.All().Where(block => block.IsWeb))
        {
            blocks.Add(block.Document, block.Line);
        }

        return blocks;
    }

    [Theory]
    [MemberData(nameof(Blocks))]
    public void Example_OfAGuide_CompilesAndStarts(string document, int line) =>
        ExampleCompiler.TryOut(document, line, static (program, folder) => ListeningProgram.Start(program, folder).Dispose());

    [Fact]
    public void ConfigurationPage_Table_HasEachKeyOnce()
    {
        string[] rows = [.. s_configurationPage.Split('\n').Where(line => line.StartsWith("| `", StringComparison.Ordinal))
            .Select(line => line.Split('`')[1])];

        Assert.Equal(OptionKeys.All.Order(), rows.Order());
    }

    [Fact]
    public void ConfigurationPage_Json_IsAccepted()
    {
        string json = s_configurationPage.Split("```json")[1].Split("```")[0];
        IConfiguration configuration = new ConfigurationBuilder().AddJsonStream(new MemoryStream(Encoding.UTF8.GetBytes(json))).Build();
        ServiceCollection services = new();
        services.AddMemoryAllocator(configuration.GetSection("MemoryAllocator"));
        services.AddMemoryAllocator("reports", configuration.GetSection("MemoryAllocator:Reports"));

        using ServiceProvider provider = services.BuildServiceProvider();
        IOptionsMonitor<MemoryAllocatorOptions> options = provider.GetRequiredService<IOptionsMonitor<MemoryAllocatorOptions>>();

        Assert.Equal((200, 50), (options.CurrentValue.MemoryBudgetMegabytes, options.Get("reports").MemoryBudgetMegabytes));
    }
}
