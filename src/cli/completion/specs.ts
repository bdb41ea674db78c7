import type { CommandSpec } from '../command.ts'

export const completionSpec = {
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
  exitCodes: { 0: 'printed' },
  examples: [
    'postern completion bash > /etc/bash_completion.d/postern  # for all users',
    'source <(postern completion zsh)',
    'postern completion fish > ~/.config/fish/completions/postern.fish',
  ],
} as const satisfies CommandSpec
