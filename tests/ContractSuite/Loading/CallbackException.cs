namespace ContractSuite.Loading;

/// <summary>What the callbacks of a run throw now and then.</summary>
internal sealed class CallbackException() : Exception("A callback of the soak run throws.");
