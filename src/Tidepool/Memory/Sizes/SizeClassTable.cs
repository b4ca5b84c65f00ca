namespace Tidepool;

/// <summary>Chooses the size classes that waste least for a histogram: exact dynamic programming over its distinct lengths.</summary>
internal static class SizeClassTable
{
    private const int MaxSteps = 1024;
    private const int MaxClasses = 256;

    internal static int[] Make(IEnumerable<KeyValuePair<int, long>> histogram, int count)
    {
        ArgumentNullException.ThrowIfNull(histogram);
        if (count is < 1 or > MaxClasses)
        {
            throw new ArgumentOutOfRangeException(nameof(count), count, $"The number of size classes must be 1 to {MaxClasses}.");
        }

        (int[] lengths, double[] weights) = Collect(histogram);
        return Choose(lengths, weights, Math.Min(count, lengths.Length));
    }

    private static (int[] Lengths, double[] Weights) Collect(IEnumerable<KeyValuePair<int, long>> histogram)
    {
        var sorted = new SortedDictionary<int, double>();
        foreach ((int length, long times) in histogram)
        {
            if (length < 1 || length > Array.MaxLength || times < 1)
            {
                throw new ArgumentException(
                    $"A histogram has lengths of 1 to {Array.MaxLength} with counts "
                        + $"above 0; found length {length}, count {times}.", nameof(histogram));
            }

            sorted[length] = sorted.GetValueOrDefault(length) + times;
        }

        if (sorted.Count == 0)
        {
            throw new ArgumentException("The histogram has no entry.", nameof(histogram));
        }

        if (sorted.Count <= MaxSteps)
        {
            return (sorted.Keys.ToArray(), sorted.Values.ToArray());
        }

        // Too many distinct lengths for the quadratic step: merge neighbours, each group named by its longest length.
        int group = (sorted.Count + MaxSteps - 1) / MaxSteps;
        var merged = sorted.Chunk(group).Select(g => (Length: g[^1].Key, Weight: g.Sum(e => e.Value))).ToArray();
        return (merged.Select(m => m.Length).ToArray(), merged.Select(m => m.Weight).ToArray());
    }

    /// <summary>
    /// best[k][j] = least rented elements when the first j + 1 lengths are served by k classes, the last one being lengths[j].
    /// </summary>
    private static int[] Choose(int[] lengths, double[] weights, int count)
    {
        int n = lengths.Length;
        var sum = new double[n + 1];
        for (int i = 0; i < n; i++)
        {
            sum[i + 1] = sum[i] + weights[i];
        }

        var best = new double[n];
        var from = new int[count, n];
        for (int j = 0; j < n; j++)
        {
            best[j] = sum[j + 1] * lengths[j];
            from[0, j] = -1;
        }

        for (int k = 1; k < count; k++)
        {
            for (int j = n - 1; j >= 0; j--)
            {
                // Fewer classes may already be as good; then the step is "no further class" (-2).
                from[k, j] = -2;
                for (int i = 0; i < j; i++)
                {
                    double cost = best[i] + ((sum[j + 1] - sum[i + 1]) * lengths[j]);
                    if (cost < best[j])
                    {
                        best[j] = cost;
                        from[k, j] = i;
                    }
                }
            }
        }

        return Walk(lengths, from, count);
    }

    private static int[] Walk(int[] lengths, int[,] from, int count)
    {
        var chosen = new List<int>();
        int j = lengths.Length - 1;
        for (int k = count - 1; k >= 0; k--)
        {
            int i = from[k, j];
            if (i == -2)
            {
                continue;
            }

            chosen.Add(lengths[j]);
            if (i == -1)
            {
                break;
            }

            j = i;
        }

        chosen.Reverse();
        return chosen.ToArray();
    }
}
