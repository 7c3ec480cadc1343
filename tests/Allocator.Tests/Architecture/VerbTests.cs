using System.Reflection;
using System.Text.RegularExpressions;

namespace Allocator.Tests.Architecture;

/// <summary>
/// Memory goes back by five verbs: a caller disposes, the rent ends, memory is returned to its source, a source releases it to the system,
/// and a request that failed is cancelled. A sixth would make a reader ask for the difference.
/// </summary>
public sealed partial class VerbTests
{
    private static readonly string[] s_rooms = ["Lifetime", "Pooling", "Allocators", "Guarding"];

    private static readonly string[] s_others =
    [
        "Abort", "Back", "Decommit", "Discard", "Drop", "Evict", "Free", "Give", "Hand", "Purge", "Put", "Reclaim", "Reclaimer", "Recycle",
        "Recycled", "Relinquish", "Unmap", "Withdraw",
    ];

    [Fact]
    public void Members_WhereMemoryGoesBack_UseTheFiveVerbs()
    {
        IEnumerable<string> members =
            from type in typeof(MemoryAllocator).Assembly.GetTypes()
            where s_rooms.Contains(type.Namespace?.Split('.').Last()) && !type.Name.Contains('<')
            from member in type.GetMembers(
                BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly)
            where member is MethodInfo { IsSpecialName: false } or Type && !member.Name.Contains('<')
            where Verb().Match(member.Name).Value is string verb && s_others.Contains(verb.Replace("Try", ""))
                || Words().Matches(member.Name).Any(static word => word.Value is "Back" or "Abort" or "Drop" or "Recycle" or "Reclaim")
            select $"{type.Name}.{member.Name}";

        Assert.Empty(members.Distinct());
    }

    [GeneratedRegex("^(Try)?[A-Z][a-z]*")]
    private static partial Regex Verb();

    [GeneratedRegex("[A-Z][a-z]*")]
    private static partial Regex Words();
}
