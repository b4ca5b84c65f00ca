namespace Tidepool.Models.Scenarios;

/// <summary>What a policy of the model throws now and then.</summary>
internal sealed class PolicyException() : Exception("the policy fails");
