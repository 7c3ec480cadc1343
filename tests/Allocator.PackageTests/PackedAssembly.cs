using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Allocator.PackageTests;

/// <summary>An assembly as it lies in a package, read without being loaded.</summary>
internal sealed class PackedAssembly : IDisposable
{
    private readonly PEReader _image;

    public PackedAssembly(string package, string entry)
    {
        using ZipArchive archive = ZipFile.OpenRead(package);
        using Stream stream = archive.GetEntry(entry)!.Open();
        MemoryStream bytes = new();
        stream.CopyTo(bytes);
        bytes.Position = 0;
        _image = new PEReader(bytes);
        Metadata = _image.GetMetadataReader();
    }

    public MetadataReader Metadata { get; }

    /// <summary>
    /// Returns the names of all types and members that a consumer sees, as documentation files have them, less kinds, parameters and type
    /// parameters of methods.
    /// </summary>
    public HashSet<string> VisibleNames()
    {
        HashSet<string> names = [];
        foreach (TypeDefinition type in Metadata.TypeDefinitions.Select(Metadata.GetTypeDefinition).Where(IsVisible))
        {
            string name = NameOf(type);
            names.Add(name);
            HashSet<MethodDefinitionHandle> methods =
                [.. type.GetMethods().Where(handle => IsVisible(Metadata.GetMethodDefinition(handle)))];
            IEnumerable<StringHandle> members =
            [
                .. methods.Select(handle => Metadata.GetMethodDefinition(handle).Name),
                .. type.GetFields().Select(Metadata.GetFieldDefinition)
                    .Where(field => IsVisible(field.Attributes)).Select(field => field.Name),
                .. type.GetProperties().Select(Metadata.GetPropertyDefinition)
                    .Where(property => Accessors(property).Any(methods.Contains)).Select(property => property.Name),
                .. type.GetEvents().Select(Metadata.GetEventDefinition)
                    .Where(@event => methods.Contains(@event.GetAccessors().Adder)).Select(@event => @event.Name),
            ];
            names.UnionWith(members.Select(member => $"{name}.{Metadata.GetString(member).Replace('.', '#')}"));
        }

        return names;
    }

    public void Dispose() => _image.Dispose();

    private static MethodDefinitionHandle[] Accessors(PropertyDefinition property) =>
        [property.GetAccessors().Getter, property.GetAccessors().Setter];

    private string NameOf(TypeDefinition type)
    {
        string name = Metadata.GetString(type.Name);
        return type.IsNested
            ? $"{NameOf(Metadata.GetTypeDefinition(type.GetDeclaringType()))}.{name}"
            : $"{Metadata.GetString(type.Namespace)}.{name}";
    }

    private bool IsVisible(TypeDefinition type) => (type.Attributes & TypeAttributes.VisibilityMask) switch
    {
        TypeAttributes.Public => true,
        TypeAttributes.NestedPublic or TypeAttributes.NestedFamily or TypeAttributes.NestedFamORAssem =>
            IsVisible(Metadata.GetTypeDefinition(type.GetDeclaringType())),
        _ => false,
    };

    private static bool IsVisible(MethodDefinition method) => (method.Attributes & MethodAttributes.MemberAccessMask)
        is MethodAttributes.Public or MethodAttributes.Family or MethodAttributes.FamORAssem;

    private static bool IsVisible(FieldAttributes field) => (field & FieldAttributes.FieldAccessMask)
        is FieldAttributes.Public or FieldAttributes.Family or FieldAttributes.FamORAssem;
}
