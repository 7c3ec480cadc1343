using System.IO;

namespace LoadResizeSave.Containers;

/// <summary>Where the pictures lie that are made for jobs in containers.</summary>
internal static class ContainerWork
{
    /// <summary>Gets the folder.</summary>
    public static string Folder { get; } = Path.GetFullPath(Path.Combine("artifacts", "load-resize-save", "containers"));
}
