namespace Tidepool.Advice;

/// <summary>Why a process cannot be looked at, as the command line says it.</summary>
internal sealed class TargetException(TargetProblem problem, string message) : Exception(message)
{
    /// <summary>What is wrong.</summary>
    public TargetProblem Problem { get; } = problem;
}

/// <summary>What keeps a process from being looked at.</summary>
internal enum TargetProblem
{
    /// <summary>The process that was named is not there, is not a .NET process, or is one of several.</summary>
    WrongTarget,

    /// <summary>The process is there, and this user or this machine cannot reach it.</summary>
    OutOfReach,

    /// <summary>The user did not wait for it.</summary>
    Stopped,
}
