namespace Allocator.PackageTests;

/// <summary>One way to say how loud the rules are.</summary>
/// <param name="Name">What the project, or the folder of the sources that it holds for, is called by.</param>
/// <param name="Properties">What stands in the project file.</param>
/// <param name="Config">What stands in the <c>.editorconfig</c> of the folder.</param>
internal sealed record ConsumerSwitch(string Name, string Properties = "", string Config = "");
