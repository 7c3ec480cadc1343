using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Rules;

namespace Allocator.Analyzers.Checks;

/// <summary>ALLOC004: what neither leaves the body nor reaches a <c>Dispose</c>, unless something worse was said of it.</summary>
internal static class LeakCheck
{
    public static void Run(SiteTable sites, ulong disposedOrEscaped, Reporter reporter)
    {
        for (int i = 0; i < sites.Count; i++)
        {
            ulong site = 1UL << i;
            if ((site & disposedOrEscaped) == 0 && !LambdaBody.IsOnly(sites[i].Operation.Syntax))
            {
                reporter.Report(LifetimeRules.NeverDisposed, sites[i].Operation, site);
            }
        }
    }
}
