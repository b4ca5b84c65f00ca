using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;

namespace Tidepool.CodeFixes;

/// <summary>
/// Mends one finding by changing text after the place that was reported, and never before it. So several findings of a document are
/// mended from the last to the first, and the places of those that wait stay where they are. What is not changed keeps its trivia.
/// </summary>
public abstract class PoolFixProvider : CodeFixProvider
{
    private readonly FixAllProvider _fixAll;

    /// <summary>Initializes the provider.</summary>
    protected PoolFixProvider() => _fixAll = FixAllProvider.Create(FixAllAsync);

    /// <summary>What the editor shows.</summary>
    protected abstract string Title { get; }

    /// <inheritdoc/>
    public sealed override FixAllProvider GetFixAllProvider() => _fixAll;

    /// <inheritdoc/>
    public sealed override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        foreach (Diagnostic found in context.Diagnostics.Where(IsOffered))
        {
            Document? mended = await MendAsync(context.Document, found.Location.SourceSpan.Start, context.CancellationToken)
                .ConfigureAwait(false);
            if (mended is not null)
            {
                context.RegisterCodeFix(CodeAction.Create(Title, _ => Task.FromResult(mended), GetType().Name), found);
            }
        }
    }

    /// <summary>Gives the document with one finding mended, or null where this fix does not fit.</summary>
    /// <param name="document">The document, in which findings behind the place may have been mended.</param>
    /// <param name="place">Where the reported code begins.</param>
    /// <param name="cancellationToken">Ends the work early.</param>
    /// <returns>The new document, or null.</returns>
    protected abstract Task<Document?> MendAsync(Document document, int place, CancellationToken cancellationToken);

    /// <summary>Where some path ends the rental already, a second end would change what the code means.</summary>
    private static bool IsOffered(Diagnostic found) => !found.Properties.ContainsKey("EndedOnSomePaths");

    private async Task<Document?> FixAllAsync(FixAllContext context, Document document, ImmutableArray<Diagnostic> all)
    {
        foreach (Diagnostic found in all.Where(IsOffered).OrderByDescending(static one => one.Location.SourceSpan.Start))
        {
            document = await MendAsync(document, found.Location.SourceSpan.Start, context.CancellationToken).ConfigureAwait(false)
                ?? document;
        }

        return document;
    }
}
