namespace Microsoft.DotNet.RemoteExecutor;

/// <summary>A child failed: it threw, ended with another exit code than expected, or did not end in time.</summary>
public sealed class RemoteExecutionException(string message) : Exception(message);
