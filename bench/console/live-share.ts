import { setTimeout as pause } from 'node:timers/promises'

/** A node of a CPU profile of V8. */
export interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string }
  readonly children?: readonly number[]
}

export interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  readonly samples?: readonly number[]
}

const collector = '(garbage collector)'

/** Where the code is that runs only while someone watches. */
const liveFiles = /\/(?:decision-watch|decision-feed)\.ts$/

/**
 * The share of a thread's samples in code that runs only for live pages: all below the functions of these
 * files, and these functions themselves. The function without a name is the one around each request: what
 * it calls runs in any case, so only its own time counts.
 */
export function liveShareOf({ nodes, samples = [] }: CpuProfile) {
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((each) => [each, id])),
  )
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const isLive = (node: ProfileNode) => liveFiles.test(node.callFrame.url)

  function isLiveAt(id: number): boolean {
    const leaf = byId.get(id)
    if (leaf !== undefined && isLive(leaf)) return true
    for (let at = parents.get(id); at !== undefined; at = parents.get(at)) {
      const node = byId.get(at)
      if (node !== undefined && isLive(node) && node.callFrame.functionName !== '') return true
    }
    return false
  }
  const known = new Map(nodes.map(({ id }) => [id, isLiveAt(id)]))
  const busy = samples.filter((id) => byId.get(id)?.callFrame.functionName !== '(idle)')
  const live = busy.filter((id) => known.get(id))
  const collected = busy.filter((id) => byId.get(id)?.callFrame.functionName === collector)
  return {
    share: live.length / busy.length,
    /** Of the garbage collector: what live pages leave for it is not in their share. */
    collected: collected.length / busy.length,
    ...{ live: live.length, samples: busy.length },
  }
}

/** Profiles a process that was started with `--inspect-port`, for some seconds. */
export async function profileOf(
  { pid, inspectPort }: { readonly pid: number; readonly inspectPort: number },
  seconds: number,
): Promise<CpuProfile> {
  process.kill(pid, 'SIGUSR1')
  const socket = new WebSocket(await debuggerUrl(inspectPort))
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error('the inspector cannot be reached')))
  })
  let lastId = 0
  function call(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = ++lastId
    return new Promise((resolve, reject) => {
      socket.addEventListener('message', function listen({ data }) {
        const reply = JSON.parse(String(data))
        if (reply.id !== id) return
        socket.removeEventListener('message', listen)
        if (reply.error === undefined) resolve(reply.result)
        else reject(new Error(`${method}: ${reply.error.message}`))
      })
      socket.send(JSON.stringify({ id, method, params }))
    })
  }
  await call('Profiler.enable')
  await call('Profiler.setSamplingInterval', { interval: 200 })
  await call('Profiler.start')
  await pause(seconds * 1000)
  const { profile } = await call('Profiler.stop')
  await call('Profiler.disable')
  socket.close()
  return profile as CpuProfile
}

async function debuggerUrl(port: number): Promise<string> {
  for (let turn = 0; turn < 100; turn++) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/json`)
      const [target] = (await answer.json()) as { webSocketDebuggerUrl: string }[]
      if (target !== undefined) return target.webSocketDebuggerUrl
    } catch {
      // It does not listen yet.
    }
    await pause(100)
  }
  throw new Error(`no inspector on port ${port}`)
}
