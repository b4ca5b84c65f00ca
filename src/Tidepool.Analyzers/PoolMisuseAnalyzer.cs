using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>
/// Finds misuse of pools that the flow of one method proves: what is returned twice, used after its return, never returned. Anything that
/// leaves the method's sight is silent.
/// </summary>
/// <remarks>Safe for concurrent use. Methods that neither rent nor return cost one look-up for each call.</remarks>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class PoolMisuseAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics => Rules.All;

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterCompilationStartAction(Start);
    }

    private static void Start(CompilationStartAnalysisContext context)
    {
        if (context.Compilation.GetTypeByMetadataName(Names.ArrayPool) is null
            && context.Compilation.GetTypeByMetadataName(Names.MicrosoftObjectPool) is null
            && context.Compilation.GetTypeByMetadataName(Names.ObjectPool) is null)
        {
            return;
        }

        var catalog = new Catalog();
        context.RegisterOperationBlockStartAction(block => new BlockAnalysis(catalog).Register(block));
    }

    /// <summary>One method body: collects the calls that rent or return, and follows the flow when there are any.</summary>
    private sealed class BlockAnalysis(Catalog catalog)
    {
        private readonly List<SyntaxNode> _starts = [];

        internal void Register(OperationBlockStartAnalysisContext context)
        {
            context.RegisterOperationAction(Look, OperationKind.Invocation, OperationKind.ObjectCreation);
            context.RegisterOperationBlockEndAction(Analyze);
        }

        private void Look(OperationAnalysisContext context)
        {
            IMethodSymbol? method = context.Operation switch
            {
                IInvocationOperation call => call.TargetMethod,
                IObjectCreationOperation creation => creation.Constructor,
                _ => null,
            };
            if (method is not null && catalog.Of(method).StartsAnalysis)
            {
                lock (_starts)
                {
                    _starts.Add(context.Operation.Syntax);
                }
            }
        }

        private void Analyze(OperationBlockAnalysisContext context)
        {
            if (_starts.Count == 0)
            {
                return;
            }

            try
            {
                AnalyzeAll(context);
            }
            catch (InsufficientExecutionStackException)
            {
                // programs write expressions nested this deep; nothing is known of the method
            }
        }

        private void AnalyzeAll(OperationBlockAnalysisContext context)
        {
            HashSet<ISymbol> untracked = FlowGraph.Untracked(context.OperationBlocks, context.OwningSymbol);
            foreach (IOperation block in context.OperationBlocks)
            {
                if (block is IBlockOperation or IFieldInitializerOperation or IPropertyInitializerOperation or IMethodBodyOperation
                    or IConstructorBodyOperation && Holds(block.Syntax))
                {
                    Analyze(context.GetControlFlowGraph(block), context.OwningSymbol, untracked, context);
                }
            }
        }

        private void Analyze(ControlFlowGraph graph, ISymbol function, HashSet<ISymbol> untracked, OperationBlockAnalysisContext context)
        {
            var flow = new FlowGraph(graph, function, catalog, untracked);
            if (new FlowWalker(flow).Run(context.CancellationToken))
            {
                foreach (Diagnostic diagnostic in flow.Findings.Proved().Concat(Conclusions.Of(flow)))
                {
                    context.ReportDiagnostic(diagnostic);
                }
            }

            foreach (IMethodSymbol local in graph.LocalFunctions)
            {
                if (local.DeclaringSyntaxReferences.Any(reference => Holds(reference.GetSyntax(context.CancellationToken))))
                {
                    ControlFlowGraph inner = graph.GetLocalFunctionControlFlowGraph(local, context.CancellationToken);
                    Analyze(inner, local, untracked, context);
                }
            }

            foreach (IFlowAnonymousFunctionOperation lambda in LambdasIn(graph))
            {
                if (Holds(lambda.Syntax))
                {
                    ControlFlowGraph inner = graph.GetAnonymousFunctionControlFlowGraph(lambda, context.CancellationToken);
                    Analyze(inner, lambda.Symbol, untracked, context);
                }
            }
        }

        private bool Holds(SyntaxNode node) => _starts.Any(start => node.FullSpan.Contains(start.Span));

        private static IEnumerable<IFlowAnonymousFunctionOperation> LambdasIn(ControlFlowGraph graph) =>
            from block in graph.Blocks
            from operation in block.BranchValue is null ? block.Operations : block.Operations.Add(block.BranchValue)
            from part in operation.DescendantsAndSelf()
            let lambda = part as IFlowAnonymousFunctionOperation
            where lambda is not null
            select lambda;
    }
}
