namespace Tidepool.Labs;

/// <summary>
/// Measures workloads in interleaved rounds (A B C A B C ...): the subjects of a cell follow each other, each round
/// begins with the next one, and every timed batch comes after a short untimed one of the same loop, so that what an
/// earlier subject did to the collector or the caches is not charged to the next.
/// </summary>
internal sealed class RoundRunner(LabPlan plan)
{
    private readonly Dictionary<int, Prepared> _prepared = [];
    private readonly Dictionary<int, string> _dropped = [];

    /// <summary>Makes the loops and warms them; those that fail or whose subject is missing are dropped with the reason.</summary>
    public void Prepare(IReadOnlyList<int> workloads, Action<double> progress)
    {
        foreach (int index in workloads)
        {
            Try(index, () =>
            {
                var workload = plan.Workloads[index];
                if (workload.Create() is { } loop)
                {
                    _prepared.Add(index, new Prepared(loop));
                    loop.Run(loop.Granularity);
                }
                else
                {
                    _dropped[index] = workload.Missing;
                }
            });
        }

        WarmUp.Run([.. _prepared.Values.Select(prepared => prepared.Loop)], progress);
    }

    /// <summary>Measures the rounds of the request.</summary>
    public MeasureReply Measure(MeasureRequest request, Action<double> progress)
    {
        foreach (int index in request.Workloads.Where(_prepared.ContainsKey))
        {
            Try(index, () => _prepared[index].Calibrate(plan.Workloads[index].FixedOperations, request.BatchMicroseconds));
        }

        GC.Collect();
        int[][] cells =
        [
            .. request.Workloads.Where(_prepared.ContainsKey)
                .GroupBy(index => plan.Workloads[index].Key.Cell).Select(cell => cell.ToArray()),
        ];
        var rounds = cells.SelectMany(cell => cell).ToDictionary(index => index, _ => new Sample?[request.Rounds]);
        for (int round = 0; round < request.Rounds; round++)
        {
            foreach (int[] cell in cells)
            {
                MeasureCell(cell, round, rounds);
            }

            progress((round + 1.0) / request.Rounds);
        }

        return new MeasureReply(
            [.. rounds.Where(pair => _prepared.ContainsKey(pair.Key)).Select(pair => new WorkloadRounds(pair.Key, pair.Value))],
            [.. _dropped.Select(pair => new DroppedWorkload(pair.Key, pair.Value))]);
    }

    private void MeasureCell(int[] cell, int round, Dictionary<int, Sample?[]> rounds)
    {
        for (int place = 0; place < cell.Length; place++)
        {
            int index = cell[(place + round) % cell.Length];
            if (round % plan.Workloads[index].EveryRounds == 0 && _prepared.TryGetValue(index, out var prepared))
            {
                Try(index, () =>
                {
                    prepared.Prime();
                    rounds[index][round] = prepared.Loop.Measure(prepared.Operations);
                });
            }
        }
    }

    private void Try(int index, Action act)
    {
        try
        {
            act();
        }
        catch (Exception failure)
        {
            // A subject that fails loses its row, with the reason; the others go on.
            _dropped[index] = failure.GetBaseException().Message;
            if (_prepared.Remove(index, out var prepared))
            {
                prepared.Loop.Dispose();
            }
        }
    }

    private sealed class Prepared(Loop loop)
    {
        public Loop Loop => loop;

        public int Operations { get; private set; }

        public void Prime()
        {
            // A sixteenth; of a short batch one turn, so that it finds what the loop itself leaves. A batch of one operation has no part.
            int turns = Math.Max(Operations / 16 / loop.Granularity, Operations > 1 ? 1 : 0);
            if (turns > 0)
            {
                loop.Run(turns * loop.Granularity);
            }
        }

        public void Calibrate(int fixedOperations, int batchMicroseconds)
        {
            if (Operations > 0)
            {
                return;
            }

            if (fixedOperations > 0)
            {
                Operations = fixedOperations;
                return;
            }

            double target = batchMicroseconds * 1000.0 * loop.BatchFactor;
            int least = (loop.LeastOperations + loop.Granularity - 1) / loop.Granularity;
            int operations = least * loop.Granularity;
            while (true)
            {
                double total = ShortestOfThree(operations);
                if (total >= target / 4 || operations > 1 << 24)
                {
                    double fitting = operations * target / Math.Max(total, 1);
                    int multiples = (int)Math.Clamp(Math.Round(fitting / loop.Granularity), least, (1 << 26) / loop.Granularity);
                    Operations = multiples * loop.Granularity;
                    return;
                }

                operations *= 2;
            }
        }

        /// <summary>Nanoseconds of a batch; one that met a busy neighbour would end the search far too early.</summary>
        private double ShortestOfThree(int operations) =>
            Enumerable.Range(0, 3).Min(_ => loop.Measure(operations).Nanoseconds) * operations;
    }
}
