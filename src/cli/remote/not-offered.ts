/** What else a user can do, for the commands that the management API does not offer. */
const others: Readonly<Record<string, string>> = {
  serve: 'it runs on the machine of the gateway',
  console: 'it runs on the machine of the gateway',
  worker: 'it runs on the machine of the gateway',
  'config schema': 'it needs no gateway: leave --gateway out',
  'policy import': 'it needs a database: leave --gateway out',
  'token inspect': 'a token must not leave this machine: leave --gateway out',
  'keys generate': 'a private key must not leave its machine: leave --gateway out',
}

const elsewhere = 'run it on a machine that has the configuration of the gateway'

/** Why a command does not work with a gateway, in one line. */
export function whyNotOffered(command: string): string {
  const known = Object.hasOwn(others, command) ? others[command] : undefined
  const reason = known ?? `the management API does not offer it: ${elsewhere}`
  return `"${command}" does not work with --gateway: ${reason}`
}

/** Why one argument or option of an offered command does not. */
export function whyNotPossible(command: string, name: string): string {
  if (name === '--config') {
    return '--config does not work with --gateway: the console has its own configuration'
  }
  if (command === 'policy push' && name === '--message') {
    return `-m is for a directory${hintFor(command)}`
  }
  return `${name} does not work with --gateway: the management API does not accept it; leave it out, or run "${command}" on a machine that has the configuration of the gateway`
}

/** What to do in place of what the management API does not do. */
export function hintFor(command: string): string {
  if (command !== 'policy push') return ''
  return ': name the policy directory to publish, or the revision of a proposal'
}
