using System.Diagnostics;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Microsoft.DotNet.RemoteExecutor;

/// <summary>
/// Runs a method in a process of its own, with the host, the configuration and the dependencies of the test assembly. The calls are those
/// of the package of the same name, which is on no public feed.
/// </summary>
/// <remarks>
/// A method is found again by its name, so it must be static, or a lambda or local function that captures nothing:
/// what it needs travels as string arguments. The handle that <c>Invoke</c> returns must be disposed; that is where
/// the test waits for the process and hears of its failure.
/// </remarks>
public static class RemoteExecutor
{
    /// <summary>The exit code of a method that returned normally, chosen so that no crash has it by chance.</summary>
    public const int SuccessExitCode = 42;

    /// <summary>The default of <see cref="RemoteInvokeOptions.TimeOut"/>, in milliseconds.</summary>
    public const int FailWaitTimeoutMilliseconds = 60_000;

    /// <summary>The program that a child starts in, which is this assembly.</summary>
    public static string Path { get; } = typeof(RemoteExecutor).Assembly.Location;

    /// <summary>The <c>dotnet</c> that runs the tests.</summary>
    public static string HostRunner { get; } = FindHost();

    public static RemoteInvokeHandle Invoke(Action method, RemoteInvokeOptions? options = null) => Start(method, [], options);

    public static RemoteInvokeHandle Invoke(Action<string> method, string arg, RemoteInvokeOptions? options = null) =>
        Start(method, [arg], options);

    public static RemoteInvokeHandle Invoke(
        Action<string, string> method, string arg1, string arg2, RemoteInvokeOptions? options = null) =>
        Start(method, [arg1, arg2], options);

    public static RemoteInvokeHandle Invoke(
        Action<string, string, string> method, string arg1, string arg2, string arg3, RemoteInvokeOptions? options = null) =>
        Start(method, [arg1, arg2, arg3], options);

    public static RemoteInvokeHandle Invoke(Func<int> method, RemoteInvokeOptions? options = null) => Start(method, [], options);

    public static RemoteInvokeHandle Invoke(Func<string, int> method, string arg, RemoteInvokeOptions? options = null) =>
        Start(method, [arg], options);

    public static RemoteInvokeHandle Invoke(
        Func<string, string, int> method, string arg1, string arg2, RemoteInvokeOptions? options = null) =>
        Start(method, [arg1, arg2], options);

    public static RemoteInvokeHandle Invoke(
        Func<string, string, string, int> method, string arg1, string arg2, string arg3, RemoteInvokeOptions? options = null) =>
        Start(method, [arg1, arg2, arg3], options);

    public static RemoteInvokeHandle Invoke(Func<Task> method, RemoteInvokeOptions? options = null) => Start(method, [], options);

    public static RemoteInvokeHandle Invoke(Func<string, Task> method, string arg, RemoteInvokeOptions? options = null) =>
        Start(method, [arg], options);

    public static RemoteInvokeHandle Invoke(
        Func<string, string, Task> method, string arg1, string arg2, RemoteInvokeOptions? options = null) =>
        Start(method, [arg1, arg2], options);

    public static RemoteInvokeHandle Invoke(
        Func<string, string, string, Task> method, string arg1, string arg2, string arg3, RemoteInvokeOptions? options = null) =>
        Start(method, [arg1, arg2, arg3], options);

    public static RemoteInvokeHandle Invoke(Func<Task<int>> method, RemoteInvokeOptions? options = null) => Start(method, [], options);

    public static RemoteInvokeHandle Invoke(Func<string, Task<int>> method, string arg, RemoteInvokeOptions? options = null) =>
        Start(method, [arg], options);

    private static RemoteInvokeHandle Start(Delegate method, string[] arguments, RemoteInvokeOptions? options)
    {
        options ??= new RemoteInvokeOptions();
        MethodInfo target = method.GetMethodInfo();
        Type type = CheckedDeclaringType(target);
        foreach (string argument in arguments)
        {
            ArgumentNullException.ThrowIfNull(argument, nameof(arguments));
        }

        ProcessStartInfo start = options.StartInfo;
        start.FileName = HostRunner;
        start.UseShellExecute = false;
        string[] all =
        [
            .. HostArguments(type.Assembly.Location, options), Path, type.Assembly.FullName!, type.FullName!, target.Name,
            options.ExceptionFile, .. arguments,
        ];
        Array.ForEach(all, start.ArgumentList.Add);
        return new RemoteInvokeHandle(start, options);
    }

    private static Type CheckedDeclaringType(MethodInfo method)
    {
        Type type = method.DeclaringType ?? throw new ArgumentException("The method has no declaring type.", nameof(method));
        if (method.IsGenericMethod)
        {
            throw new ArgumentException(
                $"{type}.{method.Name} is generic; RemoteExecutor cannot name it to another process.", nameof(method));
        }

        if (!method.IsStatic)
        {
            // A lambda without state lives in a class named <>c, made by the compiler, that has no instance field.
            FieldInfo[] fields = type.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic);
            if (!type.Name.StartsWith('<') || fields.Length > 0)
            {
                string captured = type.Name.StartsWith('<') ? string.Join(", ", fields.Select(field => field.Name)) : "this";
                throw new ArgumentException(
                    $"The delegate captures {captured}. A captured value does not reach another process: " +
                    "make the lambda or local function static and pass what it needs as string arguments.",
                    nameof(method));
            }
        }

        return type;
    }

    /// <summary>What <c>dotnet</c> needs to run the child as it runs the test assembly.</summary>
    private static string[] HostArguments(string testAssembly, RemoteInvokeOptions options)
    {
        string configuration = System.IO.Path.ChangeExtension(testAssembly, ".runtimeconfig.json");
        if (options.RuntimeConfigurationOptions.Count > 0)
        {
            configuration = WriteConfiguration(configuration, options.RuntimeConfigurationOptions, options.ConfigurationFile);
        }

        return ["exec", "--runtimeconfig", configuration, "--depsfile", System.IO.Path.ChangeExtension(testAssembly, ".deps.json")];
    }

    private static string WriteConfiguration(string source, IDictionary<string, object> additions, string destination)
    {
        JsonNode root = JsonNode.Parse(File.ReadAllText(source))!;
        JsonObject runtime = root["runtimeOptions"]!.AsObject();
        if (runtime["configProperties"] is not JsonObject properties)
        {
            runtime["configProperties"] = properties = [];
        }

        foreach ((string name, object value) in additions)
        {
            properties[name] = JsonSerializer.SerializeToNode(value);
        }

        File.WriteAllText(destination, root.ToJsonString());
        return destination;
    }

    private static string FindHost()
    {
        string name = OperatingSystem.IsWindows() ? "dotnet.exe" : "dotnet";
        string? current = Environment.ProcessPath;
        if (current is not null && System.IO.Path.GetFileName(current) == name)
        {
            return current;
        }

        // The test host may be a program of its own; the runtime that it uses lies three folders below its dotnet.
        string beside = System.IO.Path.GetFullPath(
            System.IO.Path.Combine(RuntimeEnvironment.GetRuntimeDirectory(), "..", "..", "..", name));
        return File.Exists(beside) ? beside : Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "";
    }
}
