using Allocator.Analyzers.Flow;
using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Rules;

namespace Allocator.Analyzers.Checks;

/// <summary>ALLOC004: owners that neither leave the body nor reach a <c>Dispose</c>, unless a worse mistake was reported.</summary>
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
                string? dropped = DroppedCall(operation);
                reporter.Report(
                    dropped is null ? LifetimeRules.NeverDisposed : LifetimeRules.Dropped, operation.Syntax.GetLocation(), site,
                    IsMadeHere(body, i) ? DiagnosticSeverity.Warning : DiagnosticSeverity.Info, _ => dropped!);
            }
        }
    }

    // `svc.Render(8);`, and `_ = svc.Render(8);`
    private static string? DroppedCall(IOperation operation)
    {
        IInvocationOperation? call = operation is IAwaitOperation awaiting ? awaiting.AwaitedCall() : operation as IInvocationOperation;
        bool isDropped = operation.Syntax.Parent is ExpressionStatementSyntax
            or AssignmentExpressionSyntax { Left: IdentifierNameSyntax { Identifier.ValueText: "_" } };
        return isDropped ? call?.TargetMethod.Name : null;
    }

    // A warning only for methods that are marked as factories, because an inferred one may only look like one. Not for an allocator, which
    // usually lives long; a reservation is one, but keeps room from others.
    private static bool IsMadeHere(Body body, int site)
    {
        Site made = body.Sites[site];
        IInvocationOperation? call = made.Operation switch
        {
            IInvocationOperation invocation => invocation,
            IAwaitOperation awaiting => awaiting.AwaitedCall(),
            _ => null,
        };
        return (made.IsBuffer || body.Known.Types.IsReservation(made.Operation.Type)) && call is not null
            && (body.Known.Factories.IsDeclared(call.TargetMethod) || body.Known.Factories.IsRent(call));
    }
}
