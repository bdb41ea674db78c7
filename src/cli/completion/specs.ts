import type { CommandSpec } from '../command.ts'
import help from '../help-texts/programs.json' with { type: 'json' }

export const completionSpec = {
  ...help.completion,
  name: 'completion',
  summary: 'print a script that completes commands in bash, zsh or fish',
  details: `The script completes commands, options, the values of options that have a fixed list, files and directories. It
is complete in itself: a completion does not start Postern. Load it in the startup file of your shell:

  ~/.bashrc                  source <(postern completion bash)
  ~/.zshrc                   source <(postern completion zsh)
  ~/.config/fish/config.fish postern completion fish | source`,
  arguments: [
    { name: 'SHELL', choices: ['bash', 'zsh', 'fish'], description: 'bash, zsh or fish' },
  ],
  options: {},
} as const satisfies CommandSpec
