using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Allocator.Analyzers.Tests.CodeFixes.Using;
using Allocator.CodeFixes.Awaiting;
using Allocator.CodeFixes.Using;

namespace Allocator.Analyzers.Tests.CodeFixes;

public class FixTests
{
    public static TheoryData<string> Cases => FixVerifier.Cases;

    [Theory]
    [MemberData(nameof(Cases))]
    public Task Fix_OfACase_IsAsItsFileShows(string name) => name.Split('/')[0] switch
    {
        nameof(AwaitReturnedTask) => FixVerifier.Check<AwaitReturnedTask>(name),
        "OwningObject" => FixVerifier.Check<DeclareOwnerWithUsing>(name, OwningObjectTests.Head),
        _ => FixVerifier.Check<DeclareOwnerWithUsing>(name),
    };
}
