using System.Reflection;

namespace Microsoft.DotNet.RemoteExecutor;

/// <summary>The child: finds the method by name, runs it, and turns its outcome into an exit code.</summary>
internal static class Program
{
    private const int FailureExitCode = -1;

    private static int Main(string[] arguments)
    {
        if (arguments.Length < 4)
        {
            Console.Error.WriteLine("usage: Microsoft.DotNet.RemoteExecutor assembly type method exceptionFile [argument ...]");
            return FailureExitCode;
        }

        string exceptionFile = arguments[3];
        try
        {
            return Run(arguments[0], arguments[1], arguments[2], arguments[4..]);
        }
        catch (Exception exception)
        {
            Exception cause = exception is TargetInvocationException { InnerException: { } inner } ? inner : exception;
            File.WriteAllText(exceptionFile, cause.ToString());
            return FailureExitCode;
        }
    }

    private static int Run(string assemblyName, string typeName, string methodName, string[] methodArguments)
    {
        Type type = Assembly.Load(assemblyName).GetType(typeName, throwOnError: true)!;
        const BindingFlags Declared =
            BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
        MethodInfo method = type.GetMethods(Declared)
            .Single(candidate => candidate.Name == methodName && TakesStrings(candidate, methodArguments.Length));
        object? instance = method.IsStatic ? null : Activator.CreateInstance(type, nonPublic: true);
        return ExitCode(method.Invoke(instance, methodArguments));
    }

    private static bool TakesStrings(MethodInfo method, int count)
    {
        ParameterInfo[] parameters = method.GetParameters();
        return parameters.Length == count && parameters.All(parameter => parameter.ParameterType == typeof(string));
    }

    private static int ExitCode(object? result)
    {
        switch (result)
        {
            case int exitCode:
                return exitCode;
            case Task<int> task:
                return task.GetAwaiter().GetResult();
            case Task task:
                task.GetAwaiter().GetResult();
                return RemoteExecutor.SuccessExitCode;
            default:
                return RemoteExecutor.SuccessExitCode;
        }
    }
}
