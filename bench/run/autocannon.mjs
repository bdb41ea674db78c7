// Makes the load where there is no wrk, in a process of its own. argv: a file with the order.
import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'

const { workload, port, seconds } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
let id = (Date.now() % 1_000_000) * 1000

const headersOf = (token) => ({
  'User-Agent': 'bench',
  Accept: 'application/json',
  ...(token !== '' && { Authorization: `Bearer ${token}` }),
  ...(workload.bodyBytes && { 'Content-Type': 'application/octet-stream' }),
})

const result = await autocannon({
  url: `${workload.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
  connections: workload.connections,
  duration: seconds,
  timeout: 10,
  tlsOptions: { rejectUnauthorized: false },
  requests: workload.tokens.map((token) => ({
    method: workload.method,
    path: workload.path,
    headers: headersOf(token),
    ...(workload.bodyBytes && { body: 'x'.repeat(workload.bodyBytes) }),
    ...(workload.ids && {
      setupRequest: (request) => ({ ...request, path: `${workload.path}${++id}` }),
    }),
  })),
})

console.log(
  JSON.stringify({
    requests: result.requests.total,
    seconds: result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.errors,
    refused: result.non2xx,
  }),
)
