import { isLoopback } from '../../kernel/key-url.ts'
import { subject } from '../../kernel/quote.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'
import { originProblem } from './forwarding/cors.ts'

type ConsoleDraft = NonNullable<Draft['console']>

/** Passwords of administrators never cross a network in plain text, and each role means one thing. */
export function checkConsole({ console: settings, tokens }: Draft, report: Report): void {
  if (settings === undefined) return
  checkUrl(settings, report)
  checkTransport(settings, report)
  for (const name of ['roles', 'services'] as const) checkKeys(name, settings, report)
  const services = Object.values(settings.services ?? {}).flat()
  if (services.length > 0 && tokens?.service?.enabled !== true) {
    const problem =
      ': service tokens are off; set tokens.service.enabled to true, or remove the names'
    report.problem('console.services', problem)
  }
}

function checkUrl({ url, tls }: ConsoleDraft, report: Report): void {
  const at = 'console.url'
  report.check(at, url, originProblem)
  if (url === undefined || url.startsWith('https:') || report.hasProblem(at)) return
  if (tls !== undefined) {
    report.problem(at, ': console.tls is set, so browsers use https; write https://')
  } else if (!isLoopback(URL.parse(url)?.hostname ?? '')) {
    report.problem(at, ' must use https://; http:// is accepted for loopback addresses only')
  }
}

function checkTransport({ host, url, tls }: ConsoleDraft, report: Report): void {
  const at = 'console.host'
  if (host === undefined || isLoopback(host) || host === '::1') return
  if (tls !== undefined || url?.startsWith('https:')) return
  if (['console.tls', 'console.url', at].some((path) => report.hasProblem(path))) return
  report.problem(
    at,
    `: ${subject(host)} is not a loopback address, so passwords would cross the network in plain text; set console.tls, or set console.url to the https:// address of the proxy in front of it`,
  )
}

function checkKeys(
  section: 'roles' | 'services',
  { [section]: keys }: ConsoleDraft,
  report: Report,
): void {
  const first = new Map<string, string>()
  for (const name of ['reader', 'author', 'publisher'] as const) {
    keys?.[name]?.forEach((key, index) => {
      const at = `console.${section}.${name}`
      if (key === undefined) return
      const other = first.get(key)
      if (other !== undefined && other !== at) {
        report.problem(`${at}[${index}]`, `: ${subject(key)} is already in ${other}; keep one`)
      }
      first.set(key, other ?? at)
    })
  }
}
