using System.Reflection;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Measurements.Analyzers;

/// <summary>
/// Adds what the source generators of a project write: without it, those that use regular expressions or JSON do not compile.
/// </summary>
internal static class GeneratedSources
{
    public static CSharpCompilation AddTo(CSharpCompilation compilation, CSharpCommandLineArguments arguments)
    {
        Loader loader = new();
        IEnumerable<ISourceGenerator> generators = arguments.AnalyzerReferences
            .SelectMany(reference => new AnalyzerFileReference(reference.FilePath, loader).GetGenerators(LanguageNames.CSharp));
        CSharpGeneratorDriver.Create(generators, parseOptions: arguments.ParseOptions)
            .RunGeneratorsAndUpdateCompilation(compilation, out Compilation result, out _);
        return (CSharpCompilation)result;
    }

    private sealed class Loader : IAnalyzerAssemblyLoader
    {
        public void AddDependencyLocation(string fullPath)
        {
        }

        public Assembly LoadFromPath(string fullPath) => Assembly.LoadFrom(fullPath);
    }
}
