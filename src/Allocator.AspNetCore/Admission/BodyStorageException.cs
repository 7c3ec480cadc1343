namespace Allocator.AspNetCore.Admission;

/// <summary>
/// The server could not store an upload, because its disk is full or the folder is missing. A separate type, because errors of the client
/// are <c>IOException</c>s.
/// </summary>
internal sealed class BodyStorageException : Exception
{
    public BodyStorageException(string folder, Exception cause)
        : base(cause.Message, cause) => Folder = folder;

    /// <summary>Gets the folder in which it was to be kept.</summary>
    public string Folder { get; }
}
