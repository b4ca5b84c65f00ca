using System.Text;

namespace Tidepool.Tool;

/// <summary>
/// Writes completion scripts. They have every word in them, so a press of Tab starts no process. They hold for <c>tidepool</c> and for
/// <c>./tidepool</c>: the shells look a path up by its last part.
/// </summary>
internal static class CompletionScript
{
    private const string QuoteInZsh = @"'\''";
    private const string QuoteInFish = @"\'";

    /// <summary>The script for one shell.</summary>
    public static string Write(string shell, IReadOnlyList<CompletedVerb> verbs) => shell switch
    {
        "bash" => WriteBash(verbs),
        "zsh" => WriteZsh(verbs),
        _ => WriteFish(verbs),
    };

    private static string WriteBash(IReadOnlyList<CompletedVerb> verbs)
    {
        var script = new StringBuilder();
        script.Append(
            $$"""
            # Completion of tidepool for bash. Load it: source <(tidepool completion bash)
            _tidepool_files() {
              local IFS=$'\n'
              compopt -o filenames 2>/dev/null
              COMPREPLY=($(compgen -f -- "$1"))
            }

            _tidepool() {
              local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words='' files=''
              COMPREPLY=()
              if [[ $COMP_CWORD -eq 1 ]]; then
                words='{{string.Join(' ', verbs.Where(static verb => !verb.IsInner).Select(static verb => verb.Name))}} --help --version'
              else
                local verb=${COMP_WORDS[1]}
                case "$verb ${COMP_WORDS[2]}" in {{Inner(verbs)}}) [[ $COMP_CWORD -eq 2 ]] || verb+=" ${COMP_WORDS[2]}" ;; esac
                case $verb in

            """);
        foreach (var verb in verbs)
        {
            string[] files = Names(verb, OptionValue.File);
            string[] texts = Names(verb, OptionValue.Text);
            script.Append($"      {Pattern(verb)})\n");
            string filed = $"        case $before in {string.Join(" | ", files)}) _tidepool_files \"$word\"; return ;; esac\n";
            script.Append(files.Length == 0 ? "" : filed);
            script.Append(texts.Length == 0 ? "" : $"        case $before in {string.Join(" | ", texts)}) return ;; esac\n");
            script.Append(verb.TakesFiles ? "        files=yes\n" : "");
            script.Append($"        words='{string.Join(' ', verb.Words.Concat(verb.Options.Select(static option => option.Name)))}' ;;\n");
        }

        return script.Append(
            """
                esac
              fi
              if [[ -n $files && $word != -* ]]; then
                _tidepool_files "$word"
              else
                COMPREPLY=($(compgen -W "$words" -- "$word"))
              fi
            }
            complete -F _tidepool tidepool

            """).ToString();
    }

    private static string WriteZsh(IReadOnlyList<CompletedVerb> verbs)
    {
        var script = new StringBuilder();
        script.Append(
            """
            #compdef tidepool
            # Completion of tidepool for zsh. Load it: source <(tidepool completion zsh), after compinit
            _tidepool() {
              local -a verbs
              if (( CURRENT == 2 )); then
                verbs=(

            """);
        foreach (var verb in verbs.Where(static verb => !verb.IsInner))
        {
            script.Append($"      '{verb.Name}:{Quote(verb.About, QuoteInZsh)}'\n");
        }

        script.Append(
            $$"""
                )
                _describe -t verbs verb verbs
                _arguments --help --version
                return
              fi
              local verb=$words[2]
              case "$verb $words[3]" in
                {{Inner(verbs)}}) (( CURRENT == 3 )) || { verb+=" $words[3]"; shift words; (( CURRENT-- )); } ;;
              esac
              shift words
              (( CURRENT-- ))
              case $verb in

            """);
        foreach (var verb in verbs)
        {
            script.Append($"    {Pattern(verb)}) _arguments");
            foreach (var option in verb.Options)
            {
                string value = option.Value switch
                {
                    OptionValue.File => ":file:_files",
                    OptionValue.Text => ":value: ",
                    _ => "",
                };
                script.Append($" '{option.Name}[{Quote(option.About, QuoteInZsh)}]{value}'");
            }

            string words = verb.Words.Length > 0 ? $" '*:name:({string.Join(' ', verb.Words)})'" : "";
            script.Append(verb.TakesFiles ? " '*:file:_files'" : words).Append(" ;;\n");
        }

        return script.Append(
            """
              esac
            }
            if [[ ${funcstack[1]} == _tidepool ]]; then _tidepool "$@"; else compdef _tidepool tidepool; fi

            """).ToString();
    }

    private static string WriteFish(IReadOnlyList<CompletedVerb> verbs)
    {
        var script = new StringBuilder();
        script.Append(
            """
            # Completion of tidepool for fish. Load it: tidepool completion fish | source
            complete -c tidepool -e
            complete -c tidepool -f
            complete -c tidepool -n 'test (count (commandline -opc)) -eq 1' -l help -d 'Shows help'
            complete -c tidepool -n 'test (count (commandline -opc)) -eq 1' -l version -d 'Shows the version'

            """);
        foreach (var verb in verbs)
        {
            string here = $"complete -c tidepool -n '{WhenInFish(verb, verbs)}'";
            script.Append(
                verb.IsInner
                    ? ""
                    : $"complete -c tidepool -n 'test (count (commandline -opc)) -eq 1' -a {verb.Name} "
                        + $"-d '{Quote(verb.About, QuoteInFish)}'\n");
            script.Append(verb.TakesFiles ? $"{here} -F\n" : "");
            script.Append(verb.Words.Length > 0 ? $"{here} -a '{string.Join(' ', verb.Words)}'\n" : "");
            foreach (var option in verb.Options)
            {
                string value = option.Value switch
                {
                    OptionValue.File => " -r -F",
                    OptionValue.Text => " -x",
                    _ => "",
                };
                script.Append($"{here} -l {option.Name[2..]}{value} -d '{Quote(option.About, QuoteInFish)}'\n");
            }
        }

        return script.ToString();
    }

    /// <summary>The verbs of verbs, as alternatives of a shell's pattern.</summary>
    private static string Inner(IReadOnlyList<CompletedVerb> verbs) =>
        string.Join(" | ", verbs.Where(static verb => verb.IsInner).Select(Pattern));

    private static string Pattern(CompletedVerb verb) => verb.IsInner ? $"'{verb.Name}'" : verb.Name;

    /// <summary>The condition under which fish completes a verb: a verb of a verb takes over behind its own name.</summary>
    private static string WhenInFish(CompletedVerb verb, IReadOnlyList<CompletedVerb> verbs)
    {
        if (verb.IsInner)
        {
            return $"contains -- \"{verb.Name}\" (string join \" \" -- (commandline -opc)[2..3])";
        }

        string[] inner = [.. verb.Words.Where(word => verbs.Any(other => other.Name == $"{verb.Name} {word}"))];
        string others = inner.Length == 0 ? "" : $"; and not contains -- (commandline -opc)[3] {string.Join(' ', inner)}";
        return $"string match -q -- {verb.Name} (commandline -opc)[2]{others}";
    }

    private static string[] Names(CompletedVerb verb, OptionValue value) =>
        [.. verb.Options.Where(option => option.Value == value).Select(static option => option.Name)];

    /// <summary>Text that stands in single quotes, and between brackets or behind a colon.</summary>
    private static string Quote(string text, string quote) => text.Replace("'", quote, StringComparison.Ordinal)
        .Replace('[', '(').Replace(']', ')').Replace(':', ',');
}
