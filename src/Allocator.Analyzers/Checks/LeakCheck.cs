using Allocator.Analyzers.Flow;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Rules;

namespace Allocator.Analyzers.Checks;

/// <summary>ALLOC004: what neither leaves the body nor reaches a <c>Dispose</c>, unless something worse was said of it.</summary>
internal static class LeakCheck
{
    public static void Run(Body body, ulong disposedOrEscaped, Reporter reporter)
    {
        for (int i = 0; i < body.Sites.Count; i++)
        {
            ulong site = 1UL << i;
            IOperation operation = body.Sites[i].Operation;
            if ((site & disposedOrEscaped) == 0 && !LambdaBody.IsOnly(operation.Syntax)
                && !NullFactory.MayMakeNothing(operation, body.Known))
            {
                reporter.Report(
                    LifetimeRules.NeverDisposed, operation.Syntax.GetLocation(), site,
                    IsMadeHere(body, i) ? DiagnosticSeverity.Warning : DiagnosticSeverity.Info);
            }
        }
    }

    // By a method that says itself that the result is the caller's. An allocator lives long, and a factory may only look like one.
    private static bool IsMadeHere(Body body, int site)
    {
        IInvocationOperation? call = body.Sites[site].Operation switch
        {
            IInvocationOperation made => made,
            IAwaitOperation awaiting => awaiting.AwaitedCall(),
            _ => null,
        };
        return body.Sites[site].IsBuffer && call is not null && body.Known.Factories.IsDeclared(call.TargetMethod);
    }
}
