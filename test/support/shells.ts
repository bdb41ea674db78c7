import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Shell = 'bash' | 'zsh' | 'fish'

/** Why tests with a shell are left out, or `undefined`. */
export function shellMissing(shell: Shell): string | undefined {
  const { status } = spawnSync(shell, ['-c', 'true'])
  return status === 0
    ? undefined
    : `they need ${shell}: install it (Debian: apt-get install ${shell})`
}

/**
 * What the shell makes of each line when a person presses the key for completion at its end, in an
 * interactive session with the script loaded: every word that it offers.
 */
export async function offered(
  shell: Shell,
  script: string,
  lines: readonly string[],
  directory: string,
): Promise<readonly (readonly string[])[]> {
  const scriptFile = join(directory, `.completion.${shell}`)
  const outFile = join(directory, `.offered.${shell}`)
  writeFileSync(scriptFile, script)
  writeFileSync(outFile, '')
  const places = { SCRIPT: scriptFile, OUT: outFile, LINES_FILE: join(directory, '.lines') }
  writeFileSync(places.LINES_FILE, lines.map((line) => `${line}\n`).join(''))
  const { args, input } = sessions[shell](lines)
  const said = await run(shell, args, input, directory, places)
  const records = readFileSync(outFile, 'utf8').split('\u001e').slice(0, -1)
  if (records.length !== lines.length) {
    throw new Error(`${shell} completed ${records.length} of ${lines.length} lines:\n${said}`)
  }
  return records.map((record, at) => {
    const words = record.split('\n').filter((word) => word !== '')
    // Bash and zsh put the words into the line; what was typed before comes first.
    const typed = shell === 'fish' ? 0 : (lines[at] ?? '').split(' ').length - 2
    return words.slice(typed).map(plain).toSorted()
  })
}

/** Without what shells add: the option before a value, the slash after a directory. */
function plain(word: string): string {
  return word.replace(/^--[a-z-]+=/, '').replace(/\/$/, '')
}

interface Session {
  readonly args: readonly string[]
  readonly input: string
}

/** `postern` prints its arguments: what the key put into the line. */
const sessions: Readonly<Record<Shell, (lines: readonly string[]) => Session>> = {
  bash: (lines) => ({
    args: ['--noprofile', '--norc', '-i'],
    input: [
      'PS1=',
      `postern() { printf '%s\\n' "$@" >> "$OUT"; printf '\\036' >> "$OUT"; }`,
      'source "$SCRIPT"',
      // Alt-* inserts all completions.
      ...lines.map((line) => `${line}\u001b*`),
      '',
    ].join('\n'),
  }),
  zsh: () => ({ args: ['-f', '-c', zshSession], input: '' }),
  fish: () => ({
    args: ['--no-config', '-c', fishSession],
    input: '',
  }),
}

/**
 * Zsh completes only on a terminal, which its own module provides. Reading up to the end of each answer
 * keeps the buffers of that terminal from filling up.
 */
const zshSession = `
zmodload zsh/zpty
zpty inner 'TERM=dumb zsh -f -i'
zpty -w inner 'unset zle_bracketed_paste; PS1=; setopt no_beep; autoload -Uz compinit; compinit -u -D'
zpty -w inner 'end=$(printf "\\036")'
zpty -w inner 'function postern { print -rl -- "$@" >> $OUT; print -rn -- $end >> $OUT; print -r -- $end }'
zpty -w inner 'source $SCRIPT; zle -C all complete-word _generic; bindkey "^I" all'
zpty -w inner 'zstyle ":completion:all:*" completer _all_matches _complete; zstyle ":completion:all:*" insert true'
while IFS= read -r line; do
  zpty -w -n inner "$line"$'\\t\\r'
  zpty -r inner text $'*\\036*'
  print -rn -- $text
done < $LINES_FILE
zpty -w inner exit
`

const fishSession = `
source $SCRIPT
while read -l line
    complete -C "$line" | string replace -r '\\t.*' '' >> $OUT
    printf '\\036' >> $OUT
end < $LINES_FILE
`

function run(
  program: string,
  args: readonly string[],
  input: string,
  cwd: string,
  places: Readonly<Record<string, string>>,
): Promise<string> {
  const env = { ...process.env, INPUTRC: '/dev/null', HOME: cwd, LC_ALL: 'C.UTF-8', ...places }
  const child = spawn(program, args, { cwd, env })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      said += text
    })
  }
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => resolve(said))
  })
}
