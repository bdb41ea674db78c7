import { compile } from '../policy/compile.ts'
import { type Explanation, explain } from '../policy/explain.ts'
import { type Exclusion, methodProblem, type Rule } from '../policy/rule.ts'
import { count, json, policyCommand } from './policy-command.ts'
import { notesOn, readPath } from './policy-explain-notes.ts'
import { policySettings } from './policy-settings.ts'
import { readVersion } from './policy-versions.ts'
import { formatTable, printable } from './table.ts'

const help = `usage: postern policy explain ROLE METHOD PATH [--policies DIR|REVISION|live] [--output text|json] [--config FILE]

Answers one question as the gateway would, with the code that decides there: by which step, by which
rule in which line, and when the answer is no, which rules came close. A path is read as the gateway
reads it; a query is left out. Needs no network unless a revision or live is named.

  postern policy explain viewer DELETE /api/v1/orders/7
  postern policy explain viewer GET '/api/v1/orders/a%20b?page=2'
  postern policy explain clerk POST /api/v1/orders --policies ../new-policies
  postern policy explain clerk POST /api/v1/orders --policies live

Exit codes: 0 allowed, 1 denied, 2 bad arguments, 3 the policy cannot be used.
`

/** Says whether a role may make a call, and why. */
export const policyExplain = policyCommand(
  { help, options: { policies: { type: 'string' } }, positionals: [3, 3] },
  async ({ values, positionals: [roleKey = '', method = '', target = ''], output }, io) => {
    const settings = policySettings(values.config, io)
    const version = await readVersion(values.policies ?? settings.directory, settings, io)
    const [raw = ''] = target.split('?', 1)
    const path = readPath(raw, settings.config)
    if (path === undefined) {
      const reason = 'the gateway refuses this path with 400: two parsers could read it differently'
      const { revision } = version.set
      if (output === 'json') io.out(json({ allowed: false, refused: reason, path: raw, revision }))
      else io.out(`refused: ${reason}\n`)
      return 1
    }

    const question = { roleKey, method, path }
    const explanation = explain(question, compile(version.set))
    const problem = methodProblem(method)
    const notes = [
      ...(problem === undefined ? [] : [problem]),
      ...notesOn(question, settings.config),
    ]
    const { decision, nearMisses } = explanation
    if (output === 'json') io.out(json({ ...decision, ...question, nearMisses, notes }))
    else {
      io.out(inWords(explanation, { ...question, raw }))
      for (const note of notes) io.err(`note: ${note}\n`)
    }
    return decision.allowed ? 0 : 1
  },
)

const steps = {
  admin: 'admin: this role passes without a permission check',
  exclusion: 'exclusion: whoever is logged in may make this call',
  rule: 'rule',
  none: 'none: no rule allows it',
} as const

function inWords(
  { decision, nearMisses }: Explanation,
  { roleKey, method, path, raw }: { roleKey: string; method: string; path: string; raw: string },
): string {
  const { allowed, step, rule, exclusion, revision } = decision
  const by = rule ?? exclusion
  const rows = [
    ...(path === raw ? [] : [['path', `${path} (asked: ${raw})`]]),
    ['step', steps[step]],
    ...(by === undefined ? [] : [[rule === undefined ? 'entry' : 'rule', lineOf(by)]]),
    ...(exclusion === undefined ? [] : [['reason', exclusion.reason]]),
    ['revision', revision],
  ]
  const verdict = allowed ? 'allowed' : 'denied'
  const may = allowed ? 'may' : 'may not'
  const misses = nearMisses.map(({ differs, rule: near }) => [
    lineOf(near),
    differs === 'method' ? 'for another method' : 'for another role',
  ])
  return [
    printable(`${verdict}: ${roleKey} ${may} ${method} ${path}`),
    '\n',
    formatTable(rows, '  '),
    misses.length === 0 ? '' : `${count(misses.length, 'rule')} came close:\n`,
    formatTable(misses, '  '),
  ].join('')
}

function lineOf(granted: Rule | Exclusion): string {
  const { method, path, origin } = granted
  const place = `${origin.file}:${origin.line}`
  if (!('roleKey' in granted)) return `${place}: ${method} ${path}`
  if (granted.fields !== undefined) return `${place}: p, ${granted.fields.join(', ')}`
  const effect = granted.effect === 'deny' ? ', deny' : ''
  return `${place}: p, ${granted.roleKey}, ${path}, ${method}${effect}`
}
