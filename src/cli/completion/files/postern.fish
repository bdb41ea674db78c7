# fish completion of postern

# The options of a command that take a value.
function __postern_valued
    switch $argv[1]
{{valued}}    end
end

# Sets the words that name the command, and the number of arguments after them.
function __postern_read
    set -g __postern_command ''
    set -g __postern_count 0
    set -l valued (__postern_valued '')
    set -l skip 0
    set -l ended 0
    for token in $argv[2..-1]
        if test $skip = 1
            set skip 0
        else if test $ended = 0 -a "$token" = --
            set ended 1
        else if test $ended = 0; and string match -q -- '-*' $token
            contains -- $token $valued; and set skip 1
        else if contains -- "$__postern_command" {{withNext}}
            set -g __postern_command (string trim -- "$__postern_command $token")
            set valued (__postern_valued $__postern_command)
        else
            set -g __postern_count (math $__postern_count + 1)
        end
    end
end

# Whether the cursor is after the command $argv[1] and, if given, after $argv[2] arguments (3, or 3+ for
# three or more). One completion asks this about every command, so it reads the line once.
function __postern_at
    set -l tokens (commandline -opc)
    if test "$tokens" != "$__postern_tokens"
        set -g __postern_tokens $tokens
        __postern_read $tokens
    end
    test "$__postern_command" = "$argv[1]"; or return 1
    switch "$argv[2]"
        case ''
            return 0
        case '*+'
            test $__postern_count -ge (string replace + '' -- $argv[2])
        case '*'
            test $__postern_count -eq $argv[2]
    end
end

complete -c postern -e
complete -c postern -f
{{lines}}
