import type { CommandSpec } from '../command.ts'
import help from '../help-texts/programs.json' with { type: 'json' }

export const completionSpec = {
  ...help.completion,
  name: 'completion',
  summary: 'print a script that completes commands in bash, zsh or fish',
  arguments: [
    { name: 'SHELL', choices: ['bash', 'zsh', 'fish'], description: 'bash, zsh or fish' },
  ],
  options: {},
} as const satisfies CommandSpec
