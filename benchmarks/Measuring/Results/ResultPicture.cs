namespace Measuring.Results;

/// <summary>A picture that a program drew itself because no <see cref="ResultChart"/> shows such a thing.</summary>
/// <param name="File">The name of its file, which lies beside the result file.</param>
public sealed record ResultPicture(string Title, string File);
