import { keysGenerate, keysList, keysUse } from '../../operations/keys/keys.ts'
import type { Command } from '../command.ts'
import { operationCommand } from './operation-command.ts'

const views = () => import('../views/key-views.ts')
const invalid = 'the configuration or the key directory is not valid'

export const keysCommands: readonly Command[] = [
  operationCommand(keysGenerate, {
    exitCodes: { 0: 'generated', 1: 'not generated', 3: invalid },
    examples: [
      'postern keys generate --out keys',
      'postern keys generate --out keys --alg EdDSA --kid 2026-winter',
      'KID=$(postern keys generate --out keys)',
      'postern keys generate --for policy --kid ann',
    ],
    view: async () => (await views()).keysGenerateView,
  }),
  operationCommand(keysList, {
    arguments: ['dir'],
    exitCodes: { 0: 'valid', 3: 'not valid: a gateway would reject this directory' },
    examples: [
      'postern keys list keys',
      `postern keys list keys --output json | jq -r '.keys[] | select(.role == "signs") | .kid'`,
    ],
    view: async () => (await views()).keysListView,
  }),
  operationCommand(keysUse, {
    arguments: ['kid', 'dir'],
    exitCodes: { 0: 'the key signs', 1: 'the directory has no such private key', 3: invalid },
    examples: ['postern keys use 2026-11-15-3f2a9c', 'postern keys use 2026-11-15-3f2a9c keys'],
  }),
]
