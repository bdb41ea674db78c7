import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type ProcessOptions, startGatewayProcess } from './gateway-process.ts'
import { loneGatewayConfig, type Sections } from './lone-gateway-config.ts'
import { startRecordingUpstream } from './recording-upstream.ts'

/** A gateway without a database in a process of its own, with a recording upstream. Ends with the test. */
export async function startLoneGateway(sections: Sections = {}, options: ProcessOptions = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-lone-'))
  const upstream = await startRecordingUpstream()
  onTestFinished(async () => {
    await upstream.close()
    await rm(directory, { recursive: true, force: true })
  })
  const config = loneGatewayConfig(directory, upstream.origin, sections)
  const gateway = await startGatewayProcess(join(directory, 'postern.yaml'), config, options)
  onTestFinished(() => gateway.kill())
  return { gateway, upstream }
}
