// The tables of docs/refusals.md come from the program itself.
import { faultEnvelopes, refusalEnvelopes } from '../../src/http/envelope.ts'
import { faultCode, refusalCode } from '../../src/http/grpc/status.ts'
import { catalogs } from '../../src/messages/catalogs.ts'

const notPermittedCode = 401
const envelopes = refusalEnvelopes({ status: 'envelope', notPermittedCode })
const reals = refusalEnvelopes({ status: 'real', notPermittedCode })

const texts = (kind) => `${catalogs.en[kind]} | ${catalogs.zh[kind]}`
const refusalRows = Object.keys(envelopes).map((kind) => {
  const { status, code } = envelopes[kind]
  return `| \`${kind}\` | ${code} | ${status} | ${reals[kind].status} | ${refusalCode(kind)} | ${texts(kind)} |`
})
const faults = Object.keys(faultEnvelopes).map(
  (part) =>
    `| \`${part}\` | ${faultEnvelopes[part].status} | ${faultCode(part)} | ${texts(part)} |`,
)
const others = Object.keys(catalogs.en)
  .filter((kind) => !(kind in envelopes) && !(kind in faultEnvelopes))
  .map((kind) => `| \`${kind}\` | ${texts(kind)} |`)

const tables = [
  '## Refusals\n',
  '| Kind | `code` | HTTP status, `envelope` | HTTP status, `real` | `grpc-status` | English | Chinese |',
  '|---|---|---|---|---|---|---|',
  ...refusalRows,
  '\n## Faults\n',
  '| Kind | `code` and HTTP status | `grpc-status` | English | Chinese |',
  '|---|---|---|---|---|',
  ...faults,
  '\n## Other messages\n',
  '| Kind | English | Chinese |',
  '|---|---|---|',
  ...others,
]
/** docs/refusals.md: the text before the tables is written by hand. */
export function refusals(read) {
  const [written] = read('docs/refusals.md').split('## Refusals\n')
  return `${written}${tables.join('\n')}\n`
}
