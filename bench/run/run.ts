import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificates } from '../../test/support/certificates.ts'
import type { Bystanders } from './bystanders.ts'
import { addDisturbance, disturbances } from './extras.ts'
import { describeMachine } from './machine.ts'
import type { Options } from './options.ts'
import { installPackages } from './packages.ts'
import type { Peer } from './peer.ts'
import { createPeers, installTools } from './peers.ts'
import { checkout } from './places.ts'
import { planCells } from './plan.ts'
import { type Failure, type Report, reportedPeer, rowsOf } from './report.ts'
import { createResults, type Results } from './results.ts'
import { takeRounds } from './rounds.ts'
import { startPeers } from './starting.ts'
import { createStores } from './stores.ts'
import { judge } from './targets.ts'
import { findTool, versionOf } from './tools.ts'
import { startUpstream } from './upstream.ts'

/**
 * Starts every chosen peer once and measures them in turn, round after round. Whoever cannot be had
 * or fails is left out with a line, and the others are measured all the same.
 */
export async function runAll(options: Options): Promise<Report> {
  const note = (text: string) => console.error(text)
  if (process.platform !== 'linux') throw new Error('CPU times are read from /proc: Linux only')
  const machine = describeMachine()
  if (machine.load > machine.cores / 2) {
    note(`the machine has other work to do (load ${machine.load}): these figures will vary`)
  }
  if (options.install) installTools()
  installPackages(note)
  const directory = mkdtempSync(join(tmpdir(), 'postern-bench-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))

  const stores = createStores()
  const { cells, chosen, leftOut } = choose(
    options,
    createPeers(options.postern, directory, stores),
  )
  for (const { peer, why } of leftOut) note(`left out: ${peer}: ${why}`)
  const results = createResults()
  const failed = (failure: Failure) => void leftOut.push(failure)
  const upstream = await startUpstream(directory)
  const { certificate, key, remove } = await createCertificates('127.0.0.1')
  let bystanders: Bystanders
  try {
    const surroundings = { upstream, certificate, key, directory, note, failed }
    const peers = await startPeers(cells, { ...surroundings, warmUp: options.warmUp })
    try {
      bystanders = await takeRounds({ ...options, cells, peers, upstream, results, failed })
    } finally {
      await peers.stop()
    }
    if (isWhole(options)) leftOut.push(...(await addDisturbances(results, note)))
  } finally {
    await upstream.stop()
    await stores.stop()
    await remove()
  }
  return {
    date: new Date().toISOString(),
    quick: options.quick,
    rounds: options.rounds,
    seconds: options.seconds,
    machine,
    upstream: upstream.kind === 'nginx' ? `nginx ${versionOf('nginx')}` : `node ${process.version}`,
    load: findTool('wrk') ? `wrk ${versionOf('wrk')}` : 'autocannon',
    bystanders,
    peers: chosen.map(reportedPeer),
    targets: judge(results),
    rows: rowsOf(results),
    leftOut,
  }
}

/** Whether nothing was chosen: then what disturbs Postern is measured too. */
function isWhole({ quick, peers, workloads, postern }: Options): boolean {
  return !quick && peers === undefined && workloads === undefined && postern === checkout
}

function choose(options: Options, all: readonly Peer[]) {
  const leftOut: Failure[] = []
  const cells = planCells(all, options).filter(({ peer }) => {
    const why = peer.absent()
    if (why !== undefined && !leftOut.some((one) => one.peer === peer.name)) {
      leftOut.push({ peer: peer.name, why })
    }
    return why === undefined
  })
  const chosen = all.filter((peer) => cells.some((cell) => cell.peer === peer))
  return { cells, chosen, leftOut }
}

async function addDisturbances(results: Results, note: (text: string) => void): Promise<Failure[]> {
  const failures: Failure[] = []
  for (const disturbance of disturbances) {
    note(`p99 of proxied requests, calm and with ${disturbance.name} …`)
    try {
      await addDisturbance(disturbance, results)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      failures.push({ peer: 'postern', workload: disturbance.name, why })
    }
  }
  return failures
}
