import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { userEnvironment } from './packed-package.ts'
import { blocksOf, isShown, type PageBlock, type PageCommand, shownIds } from './page-blocks.ts'
import { until } from './until.ts'

interface PageOptions {
  /** The ports of the page. Free ones are used instead, in commands, files and the environment. */
  readonly ports: readonly number[]
  /** The ports of servers that the page says are there, by the port on the page. */
  readonly servers?: Readonly<Record<number, number>>
  readonly env?: Readonly<Record<string, string>>
  /** What the page calls the directory in which it begins. */
  readonly home?: string
  /** Words of this machine, such as its name, and what the page has in their place. */
  readonly words?: Readonly<Record<string, string>>
  /** Puts there what the page says that the reader has. */
  readonly prepare?: (directory: string) => Promise<void>
  /**
   * A page with what the reader has before: its blocks under `# Before the page` are run first, those
   * under `# Before NAME` when the page comes to the heading NAME.
   */
  readonly setup?: string
  /** The root of another system, in which the shell runs: the page begins in its `/root`. */
  readonly chroot?: string
}

interface Difference {
  readonly where: string
  readonly command: string
  readonly shown: string
  readonly printed: string
}

/** A page whose commands have been run. What it started still runs. */
export interface RanPage {
  readonly directory: string
  /** Where the output is not what the page shows; empty for a page that is right. */
  readonly differences: readonly Difference[]
  /** The number of commands that were run. */
  readonly count: number
  /** The port that was used for one of the page. */
  port(documented: number): number
  close(): Promise<void>
}

const end = 'postern-docs-check'
/** How long to wait for what the page shows. After that, the last output is a difference. */
const shownMs = 1000 * Number(process.env['POSTERN_TEST_PAGE_SECONDS'] ?? 180)

/** Runs the commands of a page in one shell, in a fresh directory, and compares what they print. */
export async function runPage(page: string, options: PageOptions): Promise<RanPage> {
  const { env = {}, home = '/home/ada', words = {}, chroot = '', prepare } = options
  const directory =
    chroot === ''
      ? realpathSync(await mkdtemp(join(tmpdir(), 'postern-page-')))
      : join(chroot, 'root')
  // As the shell sees it.
  const own = directory.slice(chroot.length)
  const servers = Object.entries(options.servers ?? {})
  const ports = new Map(servers.map(([port, used]) => [Number(port), used]))
  for (const port of options.ports) ports.set(port, await freePort())
  const replaced = (text: string, pairs: readonly (readonly [string, string])[]) =>
    pairs.reduce((so, [from, to]) => so.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), to), text)
  const pairs = [...ports].map(([page, used]) => [String(page), String(used)] as const)
  // Identifiers on the page, and those that commands printed in their place.
  const ids: (readonly [string, string])[] = []
  const asRun = (text: string) => replaced(text, [...pairs, ...ids])
  const asShown = (text: string) =>
    replaced(text.replaceAll(directory, home), [
      ...pairs.map(([page, used]) => [used, page] as const),
      ...Object.entries(words),
    ])

  await prepare?.(directory)
  // A terminal shows no progress of short transfers.
  await writeFile(join(directory, '.curlrc'), 'silent\nshow-error\n')
  const shell = openShell(directory, chroot, {
    ...(chroot === '' ? userEnvironment() : proxies()),
    // As npm is for a user whose settings have no surprises.
    ...{ npm_config_loglevel: 'error', npm_config_audit: 'false', npm_config_fund: 'false' },
    ...{ npm_config_prefer_offline: 'true', CURL_HOME: own },
    ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, asRun(value)])),
  })
  const differences: Difference[] = []
  let count = 0
  const compare = (
    { page, line, command, output }: PageCommand & { readonly page: string },
    printed: string,
    start = false,
  ) => {
    count += 1
    if (isShown(asShown(printed), output, { start })) {
      ids.push(...shownIds(asShown(printed), output))
      return
    }
    differences.push({
      where: `${page}:${line}`,
      command,
      shown: output,
      printed: asShown(printed),
    })
  }

  const repeat = async ({ output }: PageCommand, command: string) => {
    const start = performance.now()
    let printed = ''
    await until(async () => {
      printed = await shell.run(command)
      return isShown(asShown(printed), output) || performance.now() - start > shownMs
    })
    return printed
  }
  const keepRunning = async ({ output }: PageCommand, command: string) => {
    const log = `.running-${count}`
    const file = join(directory, log)
    const printed = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
    await shell.run(`{ { ${command}\n}; echo ${end}; } > ${join(own, log)} 2>&1 &`)
    const isOver = () => printed().includes(end)
    const start = performance.now()
    await until(
      () =>
        isShown(asShown(printed()), output, { start: true }) ||
        isOver() ||
        performance.now() - start > shownMs,
    )
    return printed()
  }

  for (const { page: from, block } of blocksToRun(page, options.setup)) {
    if (block.kind === 'not-run') continue
    if (block.kind === 'file') {
      const there = (await shell.run('pwd')).trim()
      await writeFile(join(chroot, resolve(there, block.name)), asRun(block.text))
      continue
    }
    for (const shown of block.commands) {
      const each = { ...shown, page: from }
      const command = asRun(each.command)
      if (block.kind === 'running') compare(each, await keepRunning(each, command), true)
      else if (block.kind === 'eventually') compare(each, await repeat(each, command))
      else compare(each, await shell.run(command))
    }
  }

  return {
    ...{ directory, differences, count },
    port: (documented) => ports.get(documented) ?? documented,
    async close() {
      await shell.close()
      if (chroot === '') await rm(directory, { recursive: true, force: true })
    },
  }
}

interface Located {
  readonly page: string
  readonly block: PageBlock
}

/** The blocks of a page, each after what its setup has for the headings above it. */
function blocksToRun(page: string, setup: string | undefined): readonly Located[] {
  const blocks = (file: string) =>
    blocksOf(readFileSync(file, 'utf8')).map((block) => ({ page: file, block }))
  if (setup === undefined) return blocks(page)
  const headings = headingsOf(page)
  const lineOf = (title: string) => {
    if (title === 'the page') return 0
    const found = headings.find((heading) => heading.title === title)
    if (found === undefined) throw new Error(`${setup}: ${page} has no heading "${title}"`)
    return found.line
  }
  const above = headingsOf(setup).map(({ line, title }) => ({
    line,
    before: lineOf(title.replace('Before ', '')),
  }))
  const prepared = blocks(setup).map((each) => ({
    each,
    line: above.findLast(({ line }) => line < each.block.line)?.before ?? 0,
  }))
  // The sort is stable, and a heading has no block on its own line.
  const inOrder = [...prepared, ...blocks(page).map((each) => ({ each, line: each.block.line }))]
  return inOrder.toSorted((a, b) => a.line - b.line).map(({ each }) => each)
}

function headingsOf(page: string): readonly { readonly line: number; readonly title: string }[] {
  let isFenced = false
  return readFileSync(page, 'utf8')
    .split('\n')
    .flatMap((text, index) => {
      if (/^ *```/.test(text)) isFenced = !isFenced
      const title = isFenced ? undefined : /^#+ (.*)$/.exec(text)?.[1]
      return title === undefined ? [] : [{ line: index + 1, title }]
    })
}

/**
 * All that another system takes over from this one. The rest of the environment names files that it
 * does not have: `npm run` passes npm's own settings on in it, the certificate authorities included.
 */
function proxies(): NodeJS.ProcessEnv {
  const isProxy = ([name]: readonly [string, unknown]) => /^(?:https?|no)_proxy$/i.test(name)
  return Object.fromEntries(Object.entries(process.env).filter(isProxy))
}

function openShell(cwd: string, chroot: string, env: NodeJS.ProcessEnv) {
  const plain = ['bash', '--noprofile', '--norc']
  const [program = '', ...args] = chroot === '' ? plain : ['chroot', chroot, ...plain]
  // A group of its own: npx passes no signal on to what it runs.
  const bash = spawn(program, args, { cwd, env, detached: true })
  const ended = once(bash, 'exit')
  let output = ''
  bash.stdout.on('data', (chunk) => (output += chunk))
  bash.stdin.write(chroot === '' ? 'exec 2>&1\n' : 'exec 2>&1; cd /root\n')

  return {
    /** What this command prints on stdout and stderr. */
    async run(command: string): Promise<string> {
      output = ''
      // A command reads the terminal of the reader, and never the commands that follow.
      const input = command.endsWith('&') ? `${command}\n` : `{ ${command}\n} < /dev/null\n`
      // Keeps the exit code for a command that asks for it.
      bash.stdin.write(`${input}docs_code=$?; printf '\\n%s\\n' ${end}; (exit $docs_code)\n`)
      await until(() => {
        if (bash.exitCode !== null) throw new Error(`the shell ended: ${command}\n${output}`)
        return output.endsWith(`\n${end}\n`)
      })
      return output.slice(0, -`\n${end}\n`.length)
    },
    async close(): Promise<void> {
      const group = -(bash.pid ?? 0)
      process.kill(group, 'SIGTERM')
      bash.stdin.end()
      await ended
      await until(() => !isAlive(group))
    },
  }
}

function isAlive(group: number): boolean {
  try {
    return process.kill(group, 0)
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
