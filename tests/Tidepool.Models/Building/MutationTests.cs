using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Tidepool.Models.States;
using static Tidepool.Models.Building.Mutation;

namespace Tidepool.Models.Building;

/// <summary>What finds the place of a bug, what is refused, and that every bug outlives a refactoring that changes no behaviour.</summary>
public class MutationTests
{
    private const string Source = """
        namespace Pools;

        internal sealed partial class Station<T>
        {
            internal int Take(int count)
            {
                lock (_gate)
                {
                    _taken += count; // all of them
                    if (count > 0
                        && !_isClosed)
                    {
                        this.Report(_taken);
                        _taken++;
                    }

                    return _taken;
                }
            }

            internal void Put(int one) => _taken -= one;

            internal void Put(int one, int two)
            {
                _taken -= one;
                _taken -= two;
            }
        }
        """;

    private static readonly Mutation[] Bugs = [.. PlantedBugTests.Bugs, .. PlantedResourceBugTests.Bugs, .. StateExplorationTests.Bugs];

    [Fact]
    public void Code_is_found_whatever_its_layout_and_comments()
    {
        Expect(In("Station.Take").Remove("_taken  +=\n count /* so many */ ;"), "_taken += count;", "");
        Expect(In("Station.Take").Remove("this.Report(_taken); _taken++;"), "this.Report(_taken); _taken++;", "");
        Expect(In("Station.Take").Replace("count>0&&!_isClosed", "count>0"), "count > 0 && !_isClosed", "count > 0");
    }

    [Fact]
    public void An_operand_is_removed_with_its_operator()
    {
        Expect(In("Station.Take").Remove("count > 0"), "count > 0 && !_isClosed", "!_isClosed");
        Expect(In("Station.Take").Remove("!_isClosed"), "count > 0 && !_isClosed", "count > 0");
    }

    [Fact]
    public void A_lock_is_let_go_and_its_block_stays() => Expect(In("Station.Take").Unlock(), "lock (_gate)", "");

    [Fact]
    public void Edits_follow_each_other() => Expect(
        In("Station.Take").Remove("_taken++;").Replace("return _taken;", "_taken++; return 0;"),
        "_taken++; } return _taken;",
        "} _taken++; return 0;");

    [Fact]
    public void Overloads_are_told_apart_by_the_names_of_their_parameters() =>
        Expect(In("Station.Put(one, two)").Remove("_taken -= one;"), "_taken -= one; _taken -= two;", "_taken -= two;");

    [Fact]
    public void Code_that_is_missing_or_stands_twice_is_refused_with_the_method()
    {
        Refuse(In("Station.Take").Remove("_taken--;"), "`_taken--;` stands there 0 times", "return _taken;");
        Refuse(In("Station.Put(one, two)").Replace("_taken", "_given"), "`_taken` stands there 2 times", "_taken -= two;");
        Refuse(In("Station.Put(one, two)").Unlock(), "a lock stands there 0 times", "_taken -= two;");
    }

    [Fact]
    public void The_name_behind_a_dot_is_not_taken_for_an_expression() =>
        Refuse(In("Station.Take").Replace("Report", "Tell"), "`Report` stands there 0 times");

    [Fact]
    public void An_unknown_or_ambiguous_method_is_refused_with_those_that_are_near()
    {
        Refuse(In("Station.Tkae").Unlock(), "no method Station.Tkae; near are Station.Take, Station.Put");
        Refuse(In("Station.Put").Unlock(), "Station.Put may be Station.Put(one), Station.Put(one, two)");
    }

    [Fact]
    public void What_would_mean_something_else_is_refused()
    {
        Refuse(In("Station.Take").Replace("count > 0", "count > 0 || _isOpen"), "needs parentheses");
        Refuse(In("Station.Take").Replace("count > 0", "count>0"), "nothing would change");
        Refuse(In("Station.Put(one)").Remove("one"), "`one` is an operand of neither && nor ||");
        Refuse(In("Station.Take").Replace("_taken++;", "0"), "must both be");
    }

    [Theory]
    [InlineData("")]
    [InlineData("if (")]
    [InlineData("count > 0; }")]
    public void What_is_neither_an_expression_nor_statements_is_refused(string code) =>
        Assert.Throws<ArgumentException>(() => In("Station.Take").Remove(code));

    [Fact]
    public void A_bug_that_does_not_compile_is_named()
    {
        Mutation bug = In("Inbox.TryTake").Remove("int head = _head.Value;").Named("a word is missing");
        var refused = Assert.Throws<InvalidOperationException>(() => ModelBuild.Check(bug));
        Assert.Contains("The bug \"a word is missing\" in Inbox.TryTake does not compile", refused.Message, StringComparison.Ordinal);
        Assert.Contains("CS0103", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Every_bug_compiles() => ForEachBug(ModelBuild.Check);

    [Fact]
    public void Every_bug_fits_whatever_the_layout_and_comments_of_the_core() => PlantAll([.. ModelBuild.Core.Select(Reformat)]);

    [Fact]
    public void Every_bug_fits_when_all_types_are_whole_and_in_one_file() => PlantAll([InOneFile(ModelBuild.Core)]);

    private static void PlantAll(IReadOnlyList<SyntaxTree> files) => ForEachBug(bug =>
    {
        SyntaxTree changed = bug.Apply(files).SyntaxTree;
        Assert.False(SyntaxFactory.AreEquivalent(files.Single(f => f.FilePath == changed.FilePath), changed, topLevel: false));
    });

    /// <summary>Fails with the messages of all, because a refactoring often meets several.</summary>
    private static void ForEachBug(Action<Mutation> action)
    {
        var failures = new List<string>();
        foreach (Mutation bug in Bugs)
        {
            try
            {
                action(bug);
            }
            catch (InvalidOperationException e)
            {
                failures.Add(e.Message);
            }
        }

        Assert.True(failures.Count == 0, string.Join("\n\n", failures));
    }

    /// <summary>Removes the comments and puts each token on a line of its own.</summary>
    private static SyntaxTree Reformat(SyntaxTree file)
    {
        IEnumerable<string> tokens = file.GetRoot()
            .DescendantNodesAndTokens(static node => node is not InterpolatedStringExpressionSyntax)
            .Where(static part => part.IsToken || part.AsNode() is InterpolatedStringExpressionSyntax)
            .Select(static part => part.ToString());
        return CSharpSyntaxTree.ParseText(string.Join('\n', tokens), CoreSyntax.Parsing, file.FilePath);
    }

    /// <summary>All types in one file, each with the members of all of its parts.</summary>
    private static SyntaxTree InOneFile(IEnumerable<SyntaxTree> files)
    {
        IEnumerable<MemberDeclarationSyntax> types = files
            .SelectMany(static f => f.GetRoot().DescendantNodes(static n => n is CompilationUnitSyntax or BaseNamespaceDeclarationSyntax))
            .OfType<TypeDeclarationSyntax>()
            .GroupBy(static t => (t.Identifier.Text, t.TypeParameterList?.Parameters.Count))
            .Select(static parts => parts.Skip(1).Aggregate(parts.First(), static (whole, part) => whole.AddMembers([.. part.Members])));
        string text = SyntaxFactory.CompilationUnit().AddMembers([.. types]).ToFullString();
        return CSharpSyntaxTree.ParseText(text, CoreSyntax.Parsing, "all");
    }

    private static void Expect(Mutation mutation, string code, string bug)
    {
        Assert.Contains(Words(code), Words(Source), StringComparison.Ordinal);
        string expected = Words(Source).Replace(Words(code), bug, StringComparison.Ordinal);
        Assert.Equal(Words(expected), Words(mutation.Apply([CSharpSyntaxTree.ParseText(Source)]).SyntaxTree.ToString()));
    }

    private static void Refuse(Mutation mutation, params string[] parts)
    {
        SyntaxTree[] files = [CSharpSyntaxTree.ParseText(Source)];
        var refused = Assert.Throws<InvalidOperationException>(() => mutation.Named("a name").Apply(files));
        foreach (string part in parts.Prepend("The bug \"a name\" in Station."))
        {
            Assert.Contains(part, refused.Message, StringComparison.Ordinal);
        }
    }

    /// <summary>Code without layout and comments.</summary>
    private static string Words(string code) => string.Join(' ', SyntaxFactory.ParseTokens(code).Select(static t => t.Text)).TrimEnd();
}
