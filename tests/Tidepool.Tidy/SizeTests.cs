using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Tidy;

/// <summary>A line fits beside another one on a screen, and a function on one.</summary>
public sealed partial class SizeTests
{
    private const int LongestLine = 140;
    private const int LongestFunction = 70;

    /// <summary>Files with longer lines. Take a file out when it is wrapped; add none.</summary>
    private static readonly string[] NotYetWrapped =
    [
        "docs/samples/SharedHttpHandler.cs",
        "docs/samples/data/EntityFrameworkOverPool.cs",
        "docs/samples/data/PoolUnderExistingCode.cs",
        "docs/samples/data/SurvivingFailover.cs",
        "tests/Tidepool.Data.Tests/BlockingTests.cs",
        "tests/Tidepool.Data.Tests/DataSourceTests.cs",
        "tests/Tidepool.Data.Tests/Faults/ChildParts.cs",
        "tests/Tidepool.Data.Tests/Faults/FaultTest.cs",
        "tests/Tidepool.Data.Tests/Faults/SessionFaults.cs",
        "tests/Tidepool.Data.Tests/MetricsTests.cs",
        "tests/Tidepool.Data.Tests/MisuseTests.cs",
        "tests/Tidepool.Data.Tests/SqliteSessionTests.cs",
        "tests/Tidepool.Data.Tests/SqliteTraceTests.cs",
        "tests/Tidepool.Data.Tests/Support/Actor.cs",
        "tests/Tidepool.Labs.Tests/Docs/GeneratedDocsTests.cs",
        "tests/Tidepool.Labs.Tests/Natives/DriverTests.cs",
        "tests/Tidepool.Labs.Tests/Output/HtmlReportTests.cs",
        "tests/Tidepool.Labs.Tests/Output/NumberTextTests.cs",
        "tests/Tidepool.Labs.Tests/Processes/LabRunnerTests.cs",
        "tests/Tidepool.Labs.Tests/Verdicts/BarsTests.cs",
        "tests/Tidepool.Labs.Tests/Verdicts/MeanRatioRuleTests.cs",
        "tests/Tidepool.Misuse/RentingInsideACallbackOfThePool.cs",
        "tests/Tidepool.Models/Barriers/BufferedMachine.cs",
        "tests/Tidepool.Models/Barriers/ShardProtocol.cs",
        "tests/Tidepool.Models/Building/PlantedResourceBugTests.cs",
        "tests/Tidepool.Models/Building/PointInserter.cs",
        "tests/Tidepool.Models/Pools/Operation.cs",
        "tests/Tidepool.Models/Pools/PoolMachine.cs",
        "tests/Tidepool.Models/Pools/PoolModelTests.cs",
        "tests/Tidepool.Models/Scenarios/ClearScenario.cs",
        "tests/Tidepool.Models/Scenarios/DetachedWork.cs",
        "tests/Tidepool.Models/Scenarios/ExchangeScenario.cs",
        "tests/Tidepool.Models/Scenarios/KeyedScenario.cs",
        "tests/Tidepool.Models/Scenarios/KeyedWorld.cs",
        "tests/Tidepool.Models/Scenarios/ObjectScenario.cs",
        "tests/Tidepool.Models/Scenarios/ObjectWorld.cs",
        "tests/Tidepool.Models/Scenarios/ParkedScenario.cs",
        "tests/Tidepool.Models/Scenarios/Rental.cs",
        "tests/Tidepool.Models/Scenarios/ResourceScenario.cs",
        "tests/Tidepool.Models/Scenarios/ResourceWorld.cs",
        "tests/Tidepool.Models/Scenarios/SharedScenario.cs",
        "tests/Tidepool.Models/Scenarios/TicketScenario.cs",
        "tests/Tidepool.Models/Scenarios/World.cs",
        "tests/Tidepool.Models/Scheduling/ExplorationTests.cs",
        "tests/Tidepool.Models/Scheduling/Explorer.cs",
        "tests/Tidepool.Models/Scheduling/Lockstep.cs",
        "tests/Tidepool.Models/Scheduling/ResourceExplorationTests.cs",
        "tests/Tidepool.Models/Stress/ObjectStorm.cs",
        "tests/Tidepool.Models/Stress/RacingReturnStorm.cs",
        "tests/Tidepool.Models/Stress/Storm.cs",
        "tests/Tidepool.Native.Tests/Interop/Header.cs",
        "tests/Tidepool.Native.Tests/Interop/HeaderTests.cs",
        "tests/Tidepool.Tests/Buffers/BufferPoolOptionsTests.cs",
        "tests/Tidepool.Tests/Buffers/ClearingTests.cs",
        "tests/Tidepool.Tests/Buffers/ElementTypeTests.cs",
        "tests/Tidepool.Tests/Buffers/LengthTests.cs",
        "tests/Tidepool.Tests/Leases/BufferLeaseTests.cs",
        "tests/Tidepool.Tests/Memory/LifetimeTests.cs",
        "tests/Tidepool.Tests/Memory/NativeLifetimeTests.cs",
        "tests/Tidepool.Tests/Resources/AllocationTests.cs",
        "tests/Tidepool.Tests/Resources/BackoffTests.cs",
        "tests/Tidepool.Tests/Resources/CheckTests.cs",
        "tests/Tidepool.Tests/Resources/KeyInReportTests.cs",
        "tests/Tidepool.Tests/Resources/KeyedPolicyTests.cs",
        "tests/Tidepool.Tests/Resources/KeyedSyncTests.cs",
        "tests/Tidepool.Tests/Resources/KeyedTests.cs",
        "tests/Tidepool.Tests/Resources/LastingFailureTests.cs",
        "tests/Tidepool.Tests/Resources/LeakTests.cs",
        "tests/Tidepool.Tests/Resources/MeterTests.cs",
        "tests/Tidepool.Tests/Resources/OptionTests.cs",
        "tests/Tidepool.Tests/Resources/RecoveryTests.cs",
        "tests/Tidepool.Tests/Resources/RentTests.cs",
        "tests/Tidepool.Tests/Resources/SaturationTests.cs",
        "tests/Tidepool.Tests/Resources/SoakTests.cs",
        "tests/Tidepool.Tests/Resources/Support/ManualTime.cs",
        "tests/Tidepool.Tests/Resources/Support/ResourceTest.cs",
        "tests/Tidepool.Tests/Resources/SyncTests.cs",
        "tests/Tidepool.Tests/Resources/TornResourceLeaseTests.cs",
        "tests/Tidepool.Tests/Diagnostics/EventSourceTests.cs",
        "tests/Tidepool.Tests/Diagnostics/InstrumentTableTests.cs",
        "tests/Tidepool.Tests/Streams/OverrideTests.cs",
        "tests/Tidepool.Tests/Streams/PooledMemoryStreamTests.cs",
        "tests/Tidepool.Tests/Streams/StreamArguments.cs",
        "tests/Tidepool.Tests/Streams/StreamCopyTests.cs",
        "tests/Tidepool.Tests/Streams/StreamDifferenceTests.cs",
        "tests/Tidepool.Tests/Streams/StreamLimitTests.cs",
        "tests/Tidepool.Tests/Streams/StreamPair.cs",
        "tests/Tidepool.Tests/Support/OddStacks.cs",
        "tests/Tidepool.Tests/Writers/BufferWriterContract.cs",
    ];

    /// <summary>Longer functions, by file and name. Take one out when it is split; add none.</summary>
    private static readonly string[] NotYetSplit =
    [
        "tests/Tidepool.Data.Tests/Faults/ChildParts.cs: RunOutOfFilesAsync",
        "tests/Tidepool.Data.Tests/Faults/ExhaustionFaults.cs: Of_22_openings_on_a_server_for_20_17_succeed_and_5_are_told_53300",
        "tests/Tidepool.Tests/Buffers/RentalWay.cs: All",
        "tests/Tidepool.Tests/Resources/SoakTests.cs: Soak",
        "tests/Tidepool.Tests/Streams/RandomComparisonTests.cs: A_million_operations_do_what_MemoryStream_does",
    ];

    [Fact]
    public void No_line_of_code_is_longer_than_140_characters()
    {
        ILookup<string, string> found = Repository.Under("", ".cs").Concat(Repository.NativeCode)
            .SelectMany(file => File.ReadLines(Repository.Path(file)).Select((text, index) => (file, text, number: index + 1)))
            .Where(line => line.text.Length > LongestLine)
            .ToLookup(line => line.file, line => $"{line.file}:{line.number}: {line.text.Length} characters");
        AssertOnly(found, NotYetWrapped, nameof(NotYetWrapped), $"Lines of more than {LongestLine} characters:");
    }

    [Fact]
    public void No_line_of_a_paragraph_is_longer_than_140_characters() => Problems.AssertNone(
        from page in Repository.Under("", ".md")
        from line in Typed(page).Select((text, index) => (text, number: index + 1))
        where line.text.Length > LongestLine && !line.text.TrimStart().StartsWith('|')
        select $"{page}:{line.number}: {line.text.Length} characters",
        $"Lines of more than {LongestLine} characters outside of tables:");

    /// <summary>The lines of a page; empty ones in place of code and of what is generated.</summary>
    private static string[] Typed(string page) =>
        NotTyped().Replace(Repository.Read(page), match => new string('\n', match.Value.Count(letter => letter == '\n'))).Split('\n');

    [GeneratedRegex("<!-- generated:.*?<!-- /generated -->|^ *```.*?^ *```", RegexOptions.Singleline | RegexOptions.Multiline)]
    private static partial Regex NotTyped();

    [Fact]
    public void No_file_of_the_core_is_longer_than_450_lines() => Problems.AssertNone(
        from file in Repository.Under(Core.Folder, ".cs")
        let lines = Repository.Read(file).Count(static c => c == '\n')
        where lines > 450
        select $"{file}: {lines} lines",
        "Files with more than one subject:");

    [Fact]
    public void No_function_is_longer_than_70_lines()
    {
        ILookup<string, string> found = (
            from file in Repository.Under("", ".cs")
            from node in CSharpSyntaxTree.ParseText(Repository.Read(file), Core.ParseOptions).GetRoot().DescendantNodes()
            let name = NameOf(node)
            where name is not null
            let span = node.GetLocation().GetLineSpan()
            let lines = span.EndLinePosition.Line - span.StartLinePosition.Line + 1
            where lines > LongestFunction
            select (key: $"{file}: {name}", problem: $"{file}:{span.StartLinePosition.Line + 1}: {name} has {lines} lines"))
            .ToLookup(one => one.key, one => one.problem);
        AssertOnly(found, NotYetSplit, nameof(NotYetSplit), $"Functions of more than {LongestFunction} lines:");
    }

    private static string? NameOf(SyntaxNode node) => node switch
    {
        MethodDeclarationSyntax method => method.Identifier.Text,
        ConstructorDeclarationSyntax constructor => constructor.Identifier.Text,
        LocalFunctionStatementSyntax function => function.Identifier.Text,
        OperatorDeclarationSyntax declared => $"operator {declared.OperatorToken.Text}",
        _ => null,
    };

    private static void AssertOnly(ILookup<string, string> found, string[] listed, string list, string rule) => Problems.AssertNone(
        [
            .. found.Where(group => !listed.Contains(group.Key)).SelectMany(group => group),
            .. listed.Where(one => !found.Contains(one)).Select(one => $"{one} is within the limit: take it out of {list}"),
        ],
        rule);
}
