namespace Tidepool;

/// <summary>Tells listeners what happens to the supply. Texts are made only for those who hear them, after the gate was left.</summary>
internal sealed partial class PoolState<T>
{
    private void ReportFailure(Exception failure, bool isFirst, PoolSection<T> section)
    {
        if (!PoolDiagnostics.HearsResources)
        {
            return;
        }

        PoolReport report = section.ReportOf(this);
        bool isPermanent = _backoff.IsPermanent;
        section.Then(() =>
        {
            Core.Report(ResourceReportKind.CreateFailed, report.DescribeCreateFailure(failure), failure);
            if (isFirst)
            {
                TimeSpan longest = ResourceSettings.TimeOf(_settings.BackoffMax);
                Core.Report(ResourceReportKind.BackedOff, report.DescribeBackoff(longest, isPermanent));
            }
        });
    }

    /// <summary>Call it before the failures are forgotten.</summary>
    private void ReportRecovery(PoolSection<T> section)
    {
        if (_backoff.IsProbing && PoolDiagnostics.HearsResources)
        {
            TimeSpan failedFor = TimeSpan.FromMilliseconds(_backoff.FailingFor(section.Now));
            section.Then(() => Core.Report(ResourceReportKind.Recovered, PoolReport.DescribeRecovery(Core.Name, Core.Key, failedFor)));
        }
    }

    /// <summary>Call it before anything is cleared, so that the numbers are those of what will go.</summary>
    private void ReportClear(bool isByError, PoolSection<T> section)
    {
        if (PoolDiagnostics.HearsResources)
        {
            ResourcePoolStatistics before = Snapshot();
            section.Then(() => Core.Report(
                ResourceReportKind.Cleared, PoolReport.DescribeClear(Core.Name, Core.Key, before, isByError)));
        }
    }
}
