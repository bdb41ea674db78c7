import { type CommandSpec, configOption, outputOption } from '../command.ts'

const directory = {
  name: 'DIR',
  optional: true,
  description: 'key directory (default: jwt.keyDirectory of the configuration)',
} as const

export const generateSpec = {
  name: 'keys generate',
  summary: 'generate a key that signs tokens or policies',
  details: `Writes DIR/KID.pem (HS256: DIR/KID.jwk), readable only by its owner, and prints the key ID. Never
overwrites a key. Records the new key in the audit log if the configured database is reachable.

The first key of a directory signs unless jwt.secret is set. Further keys only verify until you run
"postern keys use": copy a new key to every replica first.

With --for policy, the key is a person's, for signatures that policy.trust requires: writes DIR/KID.pem
and DIR/KID.pub, and prints the line for policy.trust.keys. KID is the name of the person. Gateways
need only that line: keep the private key out of jwt.keyDirectory.`,
  arguments: [],
  options: {
    for: {
      value: 'WHAT',
      choices: ['tokens', 'policy'],
      default: 'tokens',
      description: 'what the key signs: tokens or policy',
    },
    alg: {
      value: 'ALGORITHM',
      choices: ['ES256', 'RS256', 'EdDSA', 'HS256'],
      description: 'ES256, RS256, EdDSA or HS256 (default: ES256; for policy: EdDSA)',
    },
    kid: {
      value: 'KID',
      description:
        'key ID (default: the date and six random hex digits; for policy: your user name)',
    },
    out: {
      value: 'DIR',
      description: 'key directory (default: jwt.keyDirectory of the configuration; for policy: .)',
    },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'generated',
    1: 'not generated',
    3: 'the configuration or the key directory is not valid',
  },
  examples: [
    'postern keys generate --out keys',
    'postern keys generate --out keys --alg EdDSA --kid 2026-winter',
    'KID=$(postern keys generate --out keys)',
    'postern keys generate --for policy --kid ann',
  ],
} as const satisfies CommandSpec

export const listSpec = {
  name: 'keys list',
  summary: 'list the keys of a directory and show which one signs',
  details: 'Prints nothing secret. The thumbprint is that of RFC 7638.',
  arguments: [directory],
  options: { ...outputOption, ...configOption },
  exitCodes: { 0: 'valid', 3: 'not valid: a gateway would reject this directory' },
  examples: [
    'postern keys list keys',
    `postern keys list keys --output json | jq -r '.keys[] | select(.role == "signs") | .kid'`,
  ],
} as const satisfies CommandSpec

export const useSpec = {
  name: 'keys use',
  summary: 'sign new tokens with another key of the directory',
  details: `Writes KID to DIR/signer; running gateways reload it. Tokens of the other keys stay valid while those
files exist.

Run it when every replica has the key: a replica without it rejects the tokens that the others
sign. In a Kubernetes Secret, change the entry "signer" instead. Records the change in the audit log if
the configured database is reachable.`,
  arguments: [{ name: 'KID', description: 'key ID, as "postern keys list" shows it' }, directory],
  options: { ...outputOption, ...configOption },
  exitCodes: {
    0: 'the key signs',
    1: 'the directory has no such private key',
    3: 'the configuration or the key directory is not valid',
  },
  examples: ['postern keys use 2026-11-15-3f2a9c', 'postern keys use 2026-11-15-3f2a9c keys'],
} as const satisfies CommandSpec
