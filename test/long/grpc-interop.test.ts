import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/redis-server.ts'
import { findGoProgram } from '../support/services/find-go.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const version = 'v1.76.0'
const client = findGoProgram(
  'google.golang.org/grpc/interop/client',
  version,
  'grpc-interop-client',
)
const server = findGoProgram(
  'google.golang.org/grpc/interop/server',
  version,
  'grpc-interop-server',
)

/** The cases of gRPC's interoperability suite that need no TLS credentials. */
const cases = [
  'empty_unary',
  'large_unary',
  'client_streaming',
  'server_streaming',
  'ping_pong',
  'empty_stream',
  'timeout_on_sleeping_server',
  'cancel_after_begin',
  'cancel_after_first_response',
  'status_code_and_message',
  'special_status_message',
  'custom_metadata',
  'unimplemented_method',
  'unimplemented_service',
]

async function startInterop(): Promise<number> {
  const port = await freePort()
  const running = spawn(server ?? '', [`-port=${port}`], { stdio: 'ignore' })
  onTestFinished(() => void running.kill('SIGKILL'))
  await until(() => listens(port))
  return port
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  return once(socket, 'connect').then(
    () => true,
    () => false,
  )
}

describe.skipIf(client === undefined || server === undefined)('the suite of grpc-go', () => {
  test('passes through the gateway, in every case', async () => {
    const port = await startInterop()
    const postern = await startPostern({
      rules: [
        'editor, /grpc.testing.TestService/*, POST',
        'editor, /grpc.testing.UnimplementedService/*, POST',
      ],
      config: {
        application: { h2c: true },
        upstreams: { backend: { targets: [`http://127.0.0.1:${port}`], protocol: 'h2c' } },
      },
    })
    const failed: string[] = []
    for (const name of cases) {
      const args = [
        ...[`-server_port=${postern.publicPort}`, '-server_host=127.0.0.1', `-test_case=${name}`],
        `-additional_metadata=authorization:Bearer ${tokenOf('editor')}`,
      ]
      try {
        await promisify(execFile)(client ?? '', args, { timeout: 120_000 })
      } catch (error) {
        failed.push(`${name}: ${(error as { stderr?: string }).stderr?.trim().slice(-300)}`)
      }
    }

    expect(failed).toEqual([])
  })
})
