namespace Tidepool;

/// <summary>What a policy has methods of its own for; asked once for each pool, so that it does not call those that do nothing.</summary>
/// <param name="CreatesHere">A thread that waits may create.</param>
/// <param name="LooksForBroken">It may call a resource broken.</param>
/// <param name="Validates">It can ask whether a resource works.</param>
/// <param name="Resets">It resets.</param>
/// <param name="WaitsInReset">Its two resets are different ones: the asynchronous one may end on another thread than it began.</param>
internal readonly record struct PolicyTraits(bool CreatesHere, bool LooksForBroken, bool Validates, bool Resets, bool WaitsInReset)
{
    /// <summary>Looks which methods are overridden.</summary>
    /// <param name="policy">The base class, whose own methods do nothing.</param>
    /// <param name="create">The synchronous creation.</param>
    /// <param name="isBroken">The quick look.</param>
    /// <param name="validations">Both validations.</param>
    /// <param name="resets">Both resets.</param>
    internal static PolicyTraits Of(Type policy, Delegate create, Delegate isBroken, Delegate[] validations, Delegate[] resets)
    {
        return new(IsOwn(create), IsOwn(isBroken), Array.Exists(validations, IsOwn), Array.Exists(resets, IsOwn), Array.TrueForAll(resets, IsOwn));

        bool IsOwn(Delegate method) => method.Method.DeclaringType != policy;
    }
}
