using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Tidepool;

/// <summary>Brings the section of a pool from the configuration to its options: bound, configured by code, checked at start.</summary>
internal static class PoolSections
{
    internal const string Root = "Tidepool:Pools";

    /// <summary>What is needed of a type: options make it, and messages name its properties.</summary>
    internal const DynamicallyAccessedMemberTypes Made =
        DynamicallyAccessedMemberTypes.PublicParameterlessConstructor | DynamicallyAccessedMemberTypes.PublicProperties;

    /// <summary>Unknown keys are refused: a mistyped one would leave a default standing, unnoticed.</summary>
    private static readonly Action<BinderOptions> Strict = static options => options.ErrorOnUnknownConfiguration = true;

    internal static string KeyOf(string name) => $"{Root}:{name}";

    /// <summary>Has the section of one pool bound, configured and checked.</summary>
    /// <param name="services">The program's services.</param>
    /// <param name="name">The pool's name.</param>
    /// <param name="bind">Binds a section of the configuration. A method of its own for each type, or no code is generated.</param>
    /// <param name="configure">What the program says in code, which wins; or null.</param>
    /// <param name="check">Refuses what is out of range by an exception that begins with the property's name.</param>
    internal static void Add<[DynamicallyAccessedMembers(Made)] TSection>(
        IServiceCollection services,
        string name,
        Action<IConfiguration, TSection> bind,
        Action<TSection>? configure,
        Action<TSection> check)
        where TSection : class
    {
        services.AddOptions<TSection>(name).ValidateOnStart();
        services.AddSingleton<IConfigureOptions<TSection>>(provider => new ConfigureNamedOptions<TSection>(
            name, section => Bind(provider.GetService<IConfiguration>(), name, section, bind)));
        if (configure is not null)
        {
            services.Configure(name, configure);
        }

        services.AddSingleton<IValidateOptions<TSection>>(new Check<TSection>(name, check));
    }

    /// <summary>The section of one pool, bound and checked.</summary>
    /// <exception cref="OptionsValidationException">A value is out of range; the message names key, value and range.</exception>
    internal static TSection Get<[DynamicallyAccessedMembers(Made)] TSection>(IServiceProvider services, string name)
        where TSection : class => services.GetRequiredService<IOptionsMonitor<TSection>>().Get(name);

    internal static void Bind(IConfiguration configuration, BufferPoolSection section) => configuration.Bind(section, Strict);

    internal static void Bind(IConfiguration configuration, ObjectPoolSection section) => configuration.Bind(section, Strict);

    internal static void Bind(IConfiguration configuration, StreamPoolSection section) => configuration.Bind(section, Strict);

    internal static void Bind(IConfiguration configuration, ResourcePoolSection section) => configuration.Bind(section, Strict);

    internal static void Bind(IConfiguration configuration, KeyedResourcePoolSection section) => configuration.Bind(section, Strict);

    internal static void Bind(IConfiguration configuration, DbPoolSection section) => configuration.Bind(section, Strict);

    private static void Bind<[DynamicallyAccessedMembers(Made)] TSection>(
        IConfiguration? configuration, string name, TSection section, Action<IConfiguration, TSection> bind)
        where TSection : class
    {
        if (configuration is null)
        {
            return;
        }

        IConfigurationSection values = configuration.GetSection(KeyOf(name));
        if (values.Value is { Length: > 0 } text && !values.GetChildren().Any())
        {
            throw new OptionsValidationException(
                name, typeof(TSection), [$"{KeyOf(name)} is '{text}'; allowed are the keys of options below it."]);
        }

        if (SectionValues.FindUnreadable(values, typeof(TSection)) is { } unreadable)
        {
            throw new OptionsValidationException(name, typeof(TSection), [$"{KeyOf(name)}:{unreadable}"]);
        }

        try
        {
            bind(values, section);
        }
        catch (InvalidOperationException e)
        {
            string cause = e.InnerException is { } inner ? $" {inner.Message}" : string.Empty;
            throw new OptionsValidationException(name, typeof(TSection), [$"{KeyOf(name)} cannot be read: {e.Message}{cause}"]);
        }
    }

    /// <summary>Checks the section of one pool; those of other names have checks of their own.</summary>
    private sealed class Check<TSection>(string pool, Action<TSection> check) : IValidateOptions<TSection>
        where TSection : class
    {
        public ValidateOptionsResult Validate(string? name, TSection options)
        {
            if (name != pool)
            {
                return ValidateOptionsResult.Skip;
            }

            try
            {
                check(options);
                return ValidateOptionsResult.Success;
            }
            catch (Exception e) when (e is ArgumentException or NotSupportedException)
            {
                return ValidateOptionsResult.Fail($"{KeyOf(pool)}:{Describe(e)}");
            }
        }

        /// <summary>The message without the parameter of a method that the reader has not called.</summary>
        private static string Describe(Exception e)
        {
            string message = e.Message.Split(" (Parameter '")[0].Split('\n')[0].TrimEnd();
            object? value = (e as ArgumentOutOfRangeException)?.ActualValue;
            return value is null || message.Contains($" is {value}", StringComparison.Ordinal) ? message : $"{message} It is {value}.";
        }
    }
}
