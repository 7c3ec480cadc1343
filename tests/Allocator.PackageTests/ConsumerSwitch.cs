namespace Allocator.PackageTests;

/// <summary>One way to say how loud the rules are.</summary>
/// <param name="Name">What the projects are called by.</param>
/// <param name="Properties">What stands in the project file.</param>
/// <param name="Config">What stands in the <c>.editorconfig</c>.</param>
internal sealed record ConsumerSwitch(string Name, string Properties = "", string Config = "");
