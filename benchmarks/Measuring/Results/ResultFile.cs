namespace Measuring.Results;

/// <summary>Reads and writes result files.</summary>
[JsonSourceGenerationOptions(
    WriteIndented = true,
    UseStringEnumConverter = true,
    RespectNullableAnnotations = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(ResultDocument))]
public sealed partial class ResultJson : JsonSerializerContext;

/// <summary>Keeps results as files, one for each program.</summary>
public static class ResultFile
{
    /// <summary>
    /// Writes <paramref name="document"/> into <paramref name="folder"/>, which is made if need be, and returns the file's path.
    /// </summary>
    public static string Save(ResultDocument document, string folder)
    {
        _ = Directory.CreateDirectory(folder);
        string path = Path.Combine(folder, document.Program + ".json");
        string unfinished = path + ".unfinished";
        File.WriteAllText(unfinished, JsonSerializer.Serialize(document, ResultJson.Default.ResultDocument) + "\n");
        File.Move(unfinished, path, overwrite: true);
        return path;
    }

    public static ResultDocument Read(string path)
    {
        try
        {
            return JsonSerializer.Deserialize(File.ReadAllText(path), ResultJson.Default.ResultDocument)
                ?? throw new InvalidDataException($"{path} holds no result.");
        }
        catch (JsonException exception)
        {
            throw new InvalidDataException($"{path} is not a result file: {exception.Message}", exception);
        }
    }
}
