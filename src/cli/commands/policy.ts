import * as policy from '../../operations/policy/policy.ts'
import { type Command, linesOption, outputIn, reportOption } from '../command.ts'
import { followSpec } from '../follow/specs.ts'
import { operationCommand } from './operation-command.ts'
import {
  approve,
  promote,
  proposals,
  propose,
  pull,
  push,
  rollback,
  shadow,
  status,
} from './publishing.ts'
import { command } from './run-command.ts'

const tableOption = outputIn(['text', 'json', 'csv'])

/** The exit codes of a question about a policy that cannot be answered. */
const couldNotAsk = {
  3: 'the policy or the configuration is not valid',
  5: 'Redis is unreachable, nothing is published, or the revision does not exist',
} as const
const couldNotCount = {
  ...couldNotAsk,
  5: 'Redis or the database is unreachable, no gateway has counted yet, or the revision does not exist',
} as const

/** `--gateway` shows with it what the push of a directory changes. */
export const diff = operationCommand(policy.policyDiff, {
  ...{ arguments: ['from', 'to'], output: reportOption },
  exitCodes: {
    0: 'access stays the same or narrows',
    1: 'access widens',
    3: 'a policy or the configuration is not valid',
    5: 'Redis is unreachable, nothing is published, or the revision or commit does not exist',
  },
  examples: [
    'postern policy diff  # live against the configured directory',
    'postern policy diff r-3f2a9c81d604',
    'postern policy diff r-3f2a9c81d604 live',
    'postern policy diff policies ../new-policies',
    'postern policy diff git:main git:HEAD  # policy.directory in two commits',
    'postern policy diff git:v1.4:config/policies policies',
  ],
  view: async () => (await import('../policy/diff-view.ts')).policyDiffView,
})

export const policyCommands: readonly Command[] = [
  operationCommand(policy.policyCheck, {
    ...{ arguments: ['dir'], output: reportOption },
    exitCodes: {
      0: 'valid',
      3: 'not valid, or warnings with --strict',
      5: 'could not ask: Redis or the database is unreachable, or the revision or commit does not exist',
    },
    examples: [
      'postern policy check',
      'postern policy check ../new-policies --strict',
      'postern policy check --against live --accounts --config production.yaml',
      'postern policy check --output json | jq -r \'.warnings[] | "\\(.file):\\(.line) \\(.message)"\'',
    ],
    view: async () => (await import('../policy/check-view.ts')).policyCheckView,
  }),
  operationCommand(policy.policyTest, {
    ...{ arguments: ['dir'], output: reportOption },
    exitCodes: {
      0: 'all tests passed',
      3: 'the policy, a test file or the configuration is not valid',
      4: 'a test failed, the directory has no tests, or coverage is too low',
      5: 'git is not installed, or knows no such commit',
    },
    examples: [
      'postern policy test',
      'postern policy test ../new-policies --config production.yaml',
      'postern policy test --min-coverage 100',
      'postern policy test git:main',
      'postern policy test --output junit > policy-tests.xml',
    ],
    view: async () => (await import('../policy/test-view.ts')).policyTestView,
  }),
  operationCommand(policy.policyExplain, {
    ...{ arguments: ['role', 'method', 'path'], outputBefore: 'policies' },
    usage: [
      'ROLE METHOD PATH [OPTIONS]',
      '--user NAME METHOD PATH [OPTIONS]',
      '--token - METHOD PATH [OPTIONS]',
      '--anonymous METHOD PATH [OPTIONS]',
    ],
    exitCodes: {
      0: 'allowed',
      1: 'denied or refused',
      3: 'the policy or the configuration is not valid',
      5: 'Redis or the database is unreachable, nothing is published, or the revision or the account does not exist',
    },
    examples: [
      'postern policy explain viewer DELETE /api/v1/orders/7',
      "postern policy explain viewer GET '/api/v1/orders/a%20b?page=2'",
      'postern policy explain --user ann DELETE /api/v1/orders/7',
      'postern policy explain --token - DELETE /api/v1/orders/7 < token.txt',
      'postern policy explain --anonymous GET /api/v1/orders',
      'postern policy explain clerk GET https://api.example.com/api/v1/orders',
      'postern policy explain clerk POST /api/v1/orders --policies ../new-policies',
      'postern policy explain clerk POST /api/v1/orders --policies git:main',
      'postern policy explain clerk POST /api/v1/orders --revision live --config production.yaml',
    ],
    view: async () => (await import('../questions/explain-view.ts')).policyExplainView,
  }),
  operationCommand(policy.policyWho, {
    ...{ arguments: ['method', 'path'], output: tableOption, outputBefore: 'policies' },
    exitCodes: {
      0: 'a role besides admin may make the call',
      1: 'only admin may, or the gateway refuses the call to everyone',
      ...couldNotAsk,
    },
    examples: [
      'postern policy who DELETE /api/v1/orders/7',
      'postern policy who GET /api/v1/orders --accounts',
      'postern policy who PUT /api/v1/orders/7 --revision live --config production.yaml',
      "postern policy who DELETE /api/v1/orders/7 --output json | jq -r '.roles[].roleKey'",
    ],
    view: async () => (await import('../questions/who-view.ts')).policyWhoView,
  }),
  operationCommand(policy.policyCan, {
    ...{ arguments: ['role'], output: tableOption, outputBefore: 'policies' },
    exitCodes: {
      0: 'a rule allows the role something; with --compare, something that the other role may not do',
      1: 'no rule allows it anything more, or the policy does not name the role',
      ...couldNotAsk,
    },
    examples: [
      'postern policy can editor',
      'postern policy can editor --compare viewer',
      'postern policy can contractor --compare employee && echo contractors may do more',
      'postern policy can clerk --output csv > clerk.csv',
      'postern policy can clerk --revision live --config production.yaml',
    ],
    view: async () => (await import('../questions/can-view.ts')).policyCanView,
  }),
  operationCommand(policy.policyGuard, {
    outputBefore: 'policies',
    exitCodes: { ...couldNotAsk, 0: 'no guardrail is broken', 1: 'a guardrail is broken' },
    examples: [
      'postern policy guard',
      'postern policy guard --revision live --config production.yaml',
      "postern policy guard --output json | jq -r '.guardrails[].violations[].message'",
    ],
    view: async () => (await import('../questions/guard-view.ts')).policyGuardView,
  }),
  operationCommand(policy.policyOpen, {
    outputBefore: 'policies',
    exitCodes: { 0: 'listed', ...couldNotAsk },
    examples: [
      'postern policy open',
      'postern policy open --revision live --config production.yaml > open-endpoints.txt',
      "postern policy open --output json | jq '.routes'",
    ],
    view: async () => (await import('../questions/open-view.ts')).policyOpenView,
  }),
  operationCommand(policy.policyMatrix, {
    output: outputIn(['text', 'json', 'csv', 'markdown', 'html']),
    outputBefore: 'compact',
    exitCodes: {
      0: 'printed',
      1: 'not printed: Casbin evaluates the model, and the matrix is too large for it',
      ...couldNotAsk,
    },
    examples: [
      'postern policy matrix',
      'postern policy matrix --output html > matrix.html',
      'postern policy matrix --output csv --revision live --config production.yaml > matrix.csv',
    ],
    view: async () => (await import('../questions/matrix/matrix-view.ts')).policyMatrixView,
  }),
  operationCommand(policy.policyNames, {
    outputBefore: 'policies',
    exitCodes: { 0: 'listed', ...couldNotAsk },
    examples: [
      'postern policy names',
      "postern policy names --output json | jq -r '.roles[]'",
      "postern policy names --output json | jq -r '.operations[].path' | sort -u",
    ],
    view: async () => (await import('../questions/names-view.ts')).policyNamesView,
  }),
  operationCommand(policy.policyFiles, {
    arguments: ['revision'],
    exitCodes: {
      ...couldNotAsk,
      0: 'printed',
      3: 'a file cannot be read, or the configuration is not valid',
    },
    examples: [
      'postern policy files',
      'postern policy files live --tests',
      "postern policy files r-3f2a9c81d604 --output json | jq -r '.files[].name'",
      'postern policy files r-3f2a9c81d604 > before.txt  # to compare line by line',
    ],
    view: async () => (await import('../questions/files-view.ts')).policyFilesView,
  }),
  operationCommand(policy.policyCoverage, {
    ...{ arguments: ['document'], output: reportOption, outputBefore: 'policies' },
    exitCodes: {
      0: 'compared; with --strict, no operation is too open, unreachable or for admin only',
      1: 'with --strict, an operation is too open, unreachable or for admin only',
      3: 'a document, the policy or the configuration is not valid',
      5: 'Redis is unreachable, nothing is published, or the revision does not exist',
    },
    examples: [
      'postern policy coverage openapi.yaml',
      'postern policy coverage orders.yaml articles.json --strict',
      'postern policy coverage openapi.yaml --base /api/v1 --policies ../new-policies',
      'postern policy coverage openapi.yaml --revision live --output sarif > coverage.sarif',
    ],
    view: async () => (await import('../questions/coverage-view.ts')).policyCoverageView,
  }),
  operationCommand(policy.policyUnused, {
    outputBefore: 'policies',
    exitCodes: {
      0: 'listed, and written with --write',
      1: 'nothing was written: too little was observed, or no rule would be left',
      ...couldNotCount,
    },
    examples: [
      'postern policy unused',
      'postern policy unused --days 90 --revision live --config production.yaml',
      'postern policy unused --baseline git:HEAD~20  # policies in files have no history in Redis',
      'postern policy unused --write ../smaller && postern policy diff live ../smaller',
      "postern policy unused --output json | jq -r '.roles[].roleKey'",
    ],
    view: async () => (await import('../evidence/usage/unused-view.ts')).policyUnusedView,
  }),
  operationCommand(policy.policyDenials, {
    outputBefore: 'policies',
    exitCodes: { 0: 'listed', ...couldNotCount },
    examples: [
      'postern policy denials',
      'postern policy denials --since 30d --limit 50',
      'postern policy denials --policies ../new-policies  # would they still be refused?',
      "postern policy denials --output json | jq -r '.denials[].line // empty'",
    ],
    view: async () => (await import('../evidence/usage/denials-view.ts')).policyDenialsView,
  }),
  diff,
  operationCommand(policy.policyReplay, {
    ...{ arguments: ['file'], output: reportOption },
    exitCodes: {
      0: 'asked; with --fail-on, no such change',
      1: 'calls change in the way that --fail-on names',
      3: 'a log does not exist, or the policy or the configuration is not valid',
      5: 'no decision could be asked, Redis is unreachable, or the revision or commit does not exist',
    },
    examples: [
      'postern policy replay --since 6h  # what this gateway decided lately',
      'postern policy replay /var/log/postern/decisions*.jsonl*',
      'postern policy replay decisions.jsonl --policies ../new-policies --fail-on deny',
      'postern policy replay decisions.jsonl.gz --policies git:HEAD --output markdown',
      'kubectl logs -l app=postern --tail=-1 | postern policy replay -',
      "postern policy replay decisions.jsonl --output json | jq -r '.changes[].example.requestId'",
    ],
    view: async () => (await import('../evidence/replay/replay-view.ts')).policyReplayView,
  }),
  propose,
  proposals,
  approve,
  push,
  shadow,
  promote,
  pull,
  status,
  operationCommand(policy.policyHistory, {
    output: linesOption,
    exitCodes: { 0: 'listed', 3: 'the configuration is not valid', 5: 'Redis is unreachable' },
    examples: [
      'postern policy history',
      'postern policy history --limit 100',
      'postern policy history --output json | jq -r \'.[] | select(.author == "ci") | .revision\'',
      'postern policy history --limit 1000 --output jsonl >> audit.jsonl',
    ],
    view: async () => (await import('../publish/history-view.ts')).policyHistoryView,
  }),
  rollback,
  operationCommand(policy.policyImport, {
    arguments: ['source', 'dir'],
    exitCodes: {
      0: 'every row was imported unchanged',
      1: 'rows were skipped or narrowed, or the source has no rows',
      3: 'nothing was written: the result or the configuration is not valid',
      5: 'nothing was written: the source is unreachable, or the directory cannot be written',
    },
    examples: [
      'POSTERN_DATABASE__URL=postgres://… postern policy import database imported',
      'postern policy import database imported --table sys_casbin_rule',
      'postern policy import database policies --update',
      'POSTERN_REDIS__URL=redis://… postern policy import redis imported --key policies',
    ],
    view: async () => (await import('../policy/import-view.ts')).policyImportView,
  }),
  command(followSpec, async () => (await import('../follow/follow.ts')).policyFollow),
]
