using FsCheck;
using FsCheck.Fluent;
using Microsoft.FSharp.Core;
using Tidepool.Models.Scheduling;
using Xunit.Abstractions;

namespace Tidepool.Models.Pools;

/// <summary>Random programs on pools with all kinds of options, beside a model.</summary>
public class PoolModelTests(ITestOutputHelper output)
{
    private const int Programs = 60;

    private static readonly Dictionary<string, Func<BufferSource<long>, BufferPoolOptions<long>>> Numbers = new()
    {
        ["default"] = static s => new() { Source = s },
        ["no checks"] = static s => new() { Source = s, Checks = PoolChecks.Off },
        ["full checks"] = static s => new() { Source = s, Checks = PoolChecks.Full },
        ["nothing kept"] = static s => new() { Source = s, Budget = 0 },
        ["little kept"] = static s => new() { Source = s, Budget = 200_000 },
        ["short buffers only"] = static s => new() { Source = s, MaxLength = 1000 },
        ["secrets"] = static s => new() { Source = s, Secrets = true },
        ["powers of two"] = static s => new() { Source = s, Sizes = SizeClasses.PowersOfTwo, Clear = ClearMode.OnReturn },
    };

    public static TheoryData<string> Options => new(Numbers.Keys);

    [Theory]
    [MemberData(nameof(Options))]
    public void A_program_in_turns_on_several_threads_agrees_with_the_model_after_every_step(string options) =>
        Run(new Element<long>(static n => n), Numbers[options], RunInTurns);

    [Fact]
    public void A_program_in_turns_on_buffers_of_references_agrees_with_the_model_after_every_step() =>
        Run(new Element<string?>(static n => $"rental {n}"), static s => new() { Source = s }, RunInTurns);

    [Theory]
    [MemberData(nameof(Options))]
    public void A_program_on_several_threads_at_once_agrees_with_the_model_in_the_end(string options) =>
        Run(new Element<long>(static n => n), Numbers[options], RunAtOnce);

    [Fact]
    public void A_program_on_buffers_of_references_on_several_threads_at_once_agrees_with_the_model_in_the_end() =>
        Run(new Element<string?>(static n => $"rental {n}"), static s => new() { Source = s }, RunAtOnce);

    private static void RunInTurns<T>(Crew crew, PoolMachine<T> machine, Operation[] program)
    {
        foreach (Operation operation in program)
        {
            if (operation.What == OperationKind.EndThread)
            {
                crew.Replace(operation.Thread);
            }
            else
            {
                crew.Do(operation.Thread, () => machine.Do(operation));
            }

            machine.Check();
        }
    }

    private static void RunAtOnce<T>(Crew crew, PoolMachine<T> machine, Operation[] program) =>
        crew.DoAll(thread => Array.ForEach(program, o =>
        {
            if (o.Thread == thread)
            {
                machine.Do(o);
            }
        }));

    private void Run<T>(
        Element<T> element, Func<BufferSource<T>, BufferPoolOptions<T>> options, Action<Crew, PoolMachine<T>, Operation[]> run)
    {
        output.WriteLine($"seed {Explorer.Seed} (repeat with TIDEPOOL_TEST_SEED={Explorer.Seed})");
        using var crew = new Crew(Operation.Threads);
        Property property = Prop.ForAll(Operation.Programs, (Action<Operation[]>)(program =>
        {
            var machine = new PoolMachine<T>(element, options);
            run(crew, machine, program);
            machine.End();
        }));
        var replay = new Replay(new Rnd((ulong)(uint)Explorer.Seed), FSharpOption<int>.None);
        try
        {
            Config config = Config.QuickThrowOnFailure
                .WithQuietOnSuccess(true)
                .WithMaxTest(Programs)
                .WithReplay(FSharpOption<Replay>.Some(replay));
            Check.One(config, property);
        }
        catch (Exception e)
        {
            throw new ScheduleException($"Repeat it with TIDEPOOL_TEST_SEED={Explorer.Seed}.\n{WithoutOriginal(e.Message)}");
        }
    }

    /// <summary>The message without the long program that failed first; the shortened one is what matters.</summary>
    private static string WithoutOriginal(string message)
    {
        int start = message.IndexOf("Original:", StringComparison.Ordinal);
        int end = message.IndexOf("Shrunk:", StringComparison.Ordinal);
        return start < 0 || end < start ? message : message.Remove(start, end - start);
    }
}
