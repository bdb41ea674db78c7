# bash completion of postern

# What may follow the words of a command: sets next, options, valued (options that take a value), and
# words and path (what the value of $2, or else argument number $3, may be).
_postern_node() {
  next='' options='' valued='' words='' path=''
  case $1 in
{{arms}}  *) return 1 ;;
  esac
}

_postern() {
  local IFS=$' \t\n' next options valued words path
  local line=() rest=$COMP_LINE word at
  # Bash also splits at = and :, so put together what no space separates.
  for ((at = 0; at <= COMP_CWORD; at++)); do
    word=${COMP_WORDS[at]}
    if ((at > 0)) && [[ -n $word && $rest != [[:space:]]* ]]; then
      line[${#line[@]}-1]+=$word
    else
      line+=("$word")
    fi
    rest=${rest#"${rest%%[![:space:]]*}"}
    rest=${rest#"$word"}
  done

  local last=$((${#line[@]} - 1)) command='' count=0 option='' ended=''
  _postern_node ''
  for ((at = 1; at < last; at++)); do
    word=${line[at]}
    if [[ -n $option ]]; then
      option=''
    elif [[ -z $ended && $word == -- ]]; then
      ended=1
    elif [[ -z $ended && $word == -* ]]; then
      [[ " $valued " == *" $word "* ]] && option=$word
    elif [[ -n $next ]]; then
      command=${command:+$command }$word
      _postern_node "$command" || return 0
    else
      count=$((count + 1))
    fi
  done

  local current=${line[last]} before=''
  if [[ -z $option && -z $ended && $current == --*=* ]]; then
    option=${current%%=*}
    before=$option=
  fi
  if [[ -n $option ]]; then
    _postern_node "$command" "$option"
  elif [[ -z $ended && $current == -* ]]; then
    _postern_node "$command"
    words=$options
  elif [[ -n $next ]]; then
    words=$next
  else
    _postern_node "$command" '' "$count"
  fi

  # Bash replaces only what follows the last = or :.
  current=${current#"$before"}
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  # Bash before 4 has no compopt, which also quotes the names.
  IFS=$'\n'
  if [[ $path == file ]]; then
    compopt -o default 2>/dev/null || COMPREPLY+=($(compgen -f -- "$current"))
  elif [[ $path == directory ]]; then
    compopt -o plusdirs 2>/dev/null || COMPREPLY+=($(compgen -d -- "$current"))
  fi
}

complete -F _postern postern
