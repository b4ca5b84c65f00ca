using System.Globalization;
using System.Text;

namespace Tidepool;

/// <content>What the exploration of states needs to know, compiled with the models alone.</content>
internal sealed partial class PoolState<T>
{
    /// <summary>Slots whose work has begun.</summary>
    internal IEnumerable<ResourceSlot<T>> Begun =>
        _slots.Where(static s => !s.IsUnbegun && s.State is SlotState.Creating or SlotState.Checking or SlotState.Destroying);

    /// <summary>Parked rentals that have left the queue to work, as the pool counts them.</summary>
    internal int AtWork => _atWork;

    /// <summary>
    /// Everything that decides what may happen next, as text: times as distances from now, slots and rentals by their order.
    /// </summary>
    /// <param name="waiters">The rentals that wait or whose threads work, in the order of their arrival.</param>
    /// <param name="section">The gate.</param>
    internal string Describe(IReadOnlyList<Waiter<T>> waiters, PoolSection<T> section)
    {
        long now = section.Now;
        var text = new StringBuilder(160);
        (string soon, string late) = (Distance(_backoff.Until(isWaitedFor: true), now), Distance(_backoff.Until(isWaitedFor: false), now));
        text.Append(CultureInfo.InvariantCulture, $"{_min}/{_max} {_isClosed} {Hot.IsOpen} {_warmTarget} ");
        text.Append(CultureInfo.InvariantCulture, $"due {Distance(section.Due, now)} failed {_backoff.Failures} {soon} {late}|");
        foreach (Waiter<T> waiter in waiters)
        {
            text.Append(waiter.State).Append(waiter.IsSync).Append(Distance(waiter.Deadline, now));
        }

        var listed = new HashSet<ResourceSlot<T>>();
        AddList(text.Append("|idle "), _idle.Oldest, waiters, listed, now);
        AddList(text.Append("|serving "), _backlog.OldestServing, waiters, listed, now);
        AddList(text.Append("|endings "), _backlog.OldestToDestroy, waiters, listed, now);
        IEnumerable<string> others = _slots.Where(s => !listed.Contains(s)).Select(s => Describe(s, waiters, now));
        return text.Append('|').AppendJoin(' ', others.Order(StringComparer.Ordinal)).ToString();
    }

    private void AddList(
        StringBuilder text, ResourceSlot<T>? slot, IReadOnlyList<Waiter<T>> waiters, HashSet<ResourceSlot<T>> listed, long now)
    {
        for (; slot is not null; slot = slot.Links.Newer)
        {
            listed.Add(slot);
            text.Append(Describe(slot, waiters, now)).Append(' ');
        }
    }

    private string Describe(ResourceSlot<T> slot, IReadOnlyList<Waiter<T>> waiters, long now)
    {
        int worker = waiters.TakeWhile(w => w.State != WaiterState.Working || w.Slot != slot).Count();
        bool isCurrent = slot.Generation == _generation;
        bool[] flags = [slot.IsMarked, slot.IsByRenter, slot.IsForPool, slot.HasGrace, isCurrent, slot.Clearing is null];
        string times = $"{Distance(slot.ExpiresAt, now)},{Distance(slot.DueAt, now)}";
        if (slot.State == SlotState.Idle)
        {
            times += $",{Distance(slot.FreshUntil, now)},{Distance(ResourceSettings.After(slot.LastUsed, _settings.IdleTimeout), now)}";
        }

        string attempt = slot.State == SlotState.Creating ? (slot.Attempt == _backoff.Failures ? "=" : "<") : "";
        string isSet = string.Concat(flags.Select(static f => f ? '1' : '0'));
        return string.Create(CultureInfo.InvariantCulture, $"{slot.State}{slot.Work}{isSet}{attempt}({times}){worker}");
    }

    private static string Distance(long moment, long now) => moment switch
    {
        ResourceSettings.NoLimit => "F",
        <= 0 => "M",
        _ when moment <= now => "0",
        _ => (moment - now).ToString(CultureInfo.InvariantCulture),
    };
}
