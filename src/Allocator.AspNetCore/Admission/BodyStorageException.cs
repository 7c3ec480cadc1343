namespace Allocator.AspNetCore.Admission;

/// <summary>
/// The server could not keep an upload: its disk is full, or the folder is missing. Apart from what the client did, which is an
/// <c>IOException</c> too.
/// </summary>
internal sealed class BodyStorageException : Exception
{
    public BodyStorageException(string folder, Exception cause)
        : base(cause.Message, cause) => Folder = folder;

    /// <summary>Gets where it was to be kept.</summary>
    public string Folder { get; }
}
