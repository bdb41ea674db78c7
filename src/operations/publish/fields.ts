/** Why, which `push` and `propose` require. */
export const message = {
  short: 'm',
  value: 'MESSAGE',
  description: 'reason for this change',
} as const

/** What the user accepts about a policy directory. */
export const candidate = {
  'allow-slow': {
    local: true,
    description: 'accept a model that the index cannot answer: every rule adds to each decision',
  },
  'allow-empty': {
    local: true,
    description: 'accept a policy without rules: only admin keeps access',
  },
  accounts: { description: 'warn about roles that have no row in the accounts database' },
  'no-tests': { description: 'accept a directory without tests; tests that exist still run' },
} as const

/** The key of the person who publishes or approves, which stays on their machine. */
export const key = {
  value: 'FILE',
  local: true,
  description: 'sign with this private key, for gateways with policy.trust',
} as const

export const replay = {
  value: 'FILE',
  once: true,
  local: true,
  description: 'before asking, show which decisions of this decision log would change',
} as const

export const yes = { short: 'y', local: true, description: 'publish without asking' } as const

/** What the commands that publish have in common. */
export const publishing = {
  yes,
  over: {
    value: 'REVISION|live',
    published: true,
    description: 'publish only if this revision is live; "live" replaces any revision',
  },
  ...{ replay, key },
  author: {
    value: 'NAME',
    local: true,
    description: 'author in the history (default: the owner of the key, else your user name)',
  },
  wait: {
    value: 'SECONDS',
    number: { min: 0, max: 3600 },
    description: 'how long to wait for the replicas; 0 checks once (default: 15)',
  },
  replicas: {
    value: 'N',
    number: { min: 1, max: 10_000, integer: true },
    description: 'fail unless exactly N replicas use it; each gateway process is a replica',
  },
  'no-wait': {
    description:
      'publish without checking the replicas, for a first policy before any gateway runs',
  },
  'allow-lost': {
    description:
      'succeed although replicas are lost or none has reported, for a deployment that replaces them',
  },
} as const
