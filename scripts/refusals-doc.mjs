// Writes the tables of docs/refusals.md from the program itself:
//   node scripts/refusals-doc.mjs
import { readFileSync, writeFileSync } from 'node:fs'
import { faultEnvelopes, refusalEnvelopes } from '../src/http/envelope.ts'
import { codeOf, faultStatuses, refusalStatuses } from '../src/http/grpc/status.ts'
import { catalogs } from '../src/messages/catalogs.ts'

const file = 'docs/refusals.md'
const notPermittedCode = 401
const envelopes = refusalEnvelopes({ status: 'envelope', notPermittedCode })
const reals = refusalEnvelopes({ status: 'real', notPermittedCode })

const texts = (kind) => `${catalogs.en[kind]} | ${catalogs.zh[kind]}`
const refusals = Object.keys(envelopes).map((kind) => {
  const { status, code } = envelopes[kind]
  return `| \`${kind}\` | ${code} | ${status} | ${reals[kind].status} | ${codeOf(refusalStatuses[kind])} | ${texts(kind)} |`
})
const faults = Object.keys(faultEnvelopes).map(
  (part) =>
    `| \`${part}\` | ${faultEnvelopes[part].status} | ${codeOf(faultStatuses[part])} | ${texts(part)} |`,
)
const others = Object.keys(catalogs.en)
  .filter((kind) => !(kind in envelopes) && !(kind in faultEnvelopes))
  .map((kind) => `| \`${kind}\` | ${texts(kind)} |`)

const tables = [
  '## Refusals\n',
  '| Kind | `code` | HTTP status, `envelope` | HTTP status, `real` | `grpc-status` | English | Chinese |',
  '|---|---|---|---|---|---|---|',
  ...refusals,
  '\n## Faults\n',
  '| Kind | `code` and HTTP status | `grpc-status` | English | Chinese |',
  '|---|---|---|---|---|',
  ...faults,
  '\n## Other messages\n',
  '| Kind | English | Chinese |',
  '|---|---|---|',
  ...others,
]
const [written] = readFileSync(file, 'utf8').split('## Refusals\n')
writeFileSync(file, `${written}${tables.join('\n')}\n`)
