namespace Tidepool.Labs;

/// <summary>A throw-away server could not be made, or did not do what it was told.</summary>
internal sealed class LabServerException(string message) : Exception(message);
