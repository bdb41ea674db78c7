import { basename, extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type MessagePort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../../background/thread-priority.ts'
import type { VerifyCredentials } from './contract.ts'
import { readDeclaration, Undeclared } from './declaration.ts'
import type { FromThread, ThreadTask, ToThread } from './messages.ts'
import { describeThrown } from './thrown-error.ts'
import { createWorkerTools } from './worker-tools.ts'

/* The thread of a login module. Whatever the module does here, the gateway goes on. */
lowerThreadPriority()
// A port of our own: a module that uses `parentPort` cannot disturb it.
const { file, port } = workerData as ThreadTask & { readonly port: MessagePort }
const say = (message: FromThread) => port.postMessage(message)
const tools = createWorkerTools(say)

try {
  const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(file).href)
  const declaration = readDeclaration(exported, basename(file, extname(file)))
  serve(exported['verifyCredentials'] as VerifyCredentials)
  say({ kind: 'loaded', declaration })
} catch (error) {
  const { name, message } = describeThrown(error)
  // The error of `import` does not say where.
  const hint = error instanceof SyntaxError ? '; "node --check" shows the line' : ''
  const problem =
    error instanceof Undeclared ? message : `cannot be loaded: ${name}: ${message}${hint}`
  say({ kind: 'unusable', problem })
}

function serve(verifyCredentials: VerifyCredentials): void {
  const aborts = new Map<number, AbortController>()

  async function verify({ call, request, remoteAddress }: ToThread & { kind: 'verify' }) {
    const abort = new AbortController()
    aborts.set(call, abort)
    try {
      const given = tools.of({ call, remoteAddress, signal: abort.signal })
      const result: unknown = await verifyCredentials(request, given)
      // Throws for what cannot be copied, such as a function.
      say({ kind: 'returned', call, result })
    } catch (error) {
      say({ kind: 'threw', call, error: describeThrown(error) })
    } finally {
      aborts.delete(call)
    }
  }

  port.on('message', (message: ToThread) => {
    switch (message.kind) {
      case 'verify':
        void verify(message)
        break
      case 'abort':
        aborts.get(message.call)?.abort(new DOMException('login timed out', 'TimeoutError'))
        break
      case 'account':
        tools.found(message)
        break
    }
  })
}
