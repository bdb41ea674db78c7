import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Load, LoadOptions } from './load.ts'
import type { Workload } from './workloads.ts'

/** How wrk is called: one thread, so that no two requests have the same id; whole seconds only. */
export async function wrkArguments(options: LoadOptions): Promise<readonly string[]> {
  const { workload, port, seconds, directory } = options
  const script = join(directory, `${workload.name}.lua`)
  await writeFile(script, scriptOf(workload, port))
  const args = ['-t1', `-c${workload.connections}`, `-d${seconds}s`, '--timeout', '10s']
  const url = `${workload.tls ? 'https' : 'http'}://127.0.0.1:${port}`
  return [...args, '-s', script, url]
}

/** What the script has it say at its end. Throws when it says nothing. */
export function readWrk(stdout: string): Load {
  const line = stdout.split('\n').find((text) => text.startsWith('{"requests"'))
  if (line === undefined) throw new Error(`wrk says nothing: ${stdout.slice(-300)}`)
  return JSON.parse(line)
}

function scriptOf(workload: Workload, port: number): string {
  const requests = workload.tokens.map((token) => luaText(...requestOf(workload, port, token)))
  return `
local requests = {
${requests.map(([head, tail]) => `  { ${head}, ${tail} },`).join('\n')}
}
local at, id = 0, ${Date.now() % 1_000_000}000
function request()
  at = at % #requests + 1
  ${workload.ids ? 'id = id + 1' : ''}
  local one = requests[at]
  return ${workload.ids ? 'one[1] .. string.format("%d", id) .. one[2]' : 'one[1]'}
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"failed":%d,"refused":%d}\\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end
`
}

/** The request in two pieces: an id goes between them. */
function requestOf(workload: Workload, port: number, token: string): [string, string] {
  const { method, path, bodyBytes, ids } = workload
  const headers = [
    ` HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'User-Agent: bench',
    'Accept: application/json',
    ...(token === '' ? [] : [`Authorization: Bearer ${token}`]),
    ...(bodyBytes === undefined
      ? []
      : ['Content-Type: application/octet-stream', `Content-Length: ${bodyBytes}`]),
  ]
  const rest = `${headers.join('\r\n')}\r\n\r\n${'x'.repeat(bodyBytes ?? 0)}`
  const start = `${method} ${path}`
  return ids ? [start, rest] : [start + rest, '']
}

function luaText(...pieces: readonly string[]): readonly string[] {
  return pieces.map((text) => `"${text.replaceAll('\r', '\\r').replaceAll('\n', '\\n')}"`)
}
