import { constants, gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { LogSource } from '../../src/replay/log-source.ts'
import { replay } from '../../src/replay/replay.ts'
import { policies as policiesOf } from '../policy/policy-text.ts'
import { linesOf, recordOf } from './records.ts'

const policies = policiesOf({ lines: ['p, clerk, /orders/*, GET', 'p, clerk, /stock, PUT'] })

/** Logs that arrive in pieces of this many bytes. */
function sourcesOf(logs: readonly (string | Buffer)[], pieceBytes = 1000): readonly LogSource[] {
  return logs.map((log, at) => ({
    name: `log-${at}`,
    bytes: undefined,
    async *open() {
      const bytes = Buffer.from(log)
      for (let from = 0; from < bytes.length; from += pieceBytes) {
        yield bytes.subarray(from, from + pieceBytes)
      }
    },
  }))
}

function replayOf(logs: readonly (string | Buffer)[], pieceBytes?: number) {
  return replay(sourcesOf(logs, pieceBytes), policies)
}

const denied = { path: '/other', rule: { file: 'policy.csv', line: 3 } }
const none = { result: 'deny', step: 'none', rule: undefined }

describe('a replay', () => {
  test('counts what stays, what would be denied and what would be allowed', async () => {
    const log = linesOf(
      recordOf(),
      recordOf(denied),
      recordOf(none),
      recordOf({ ...none, path: '/x' }),
    )

    const result = await replayOf([log])

    expect(result).toMatchObject({
      ...{ decisions: 4, asked: 4, unchanged: 2, wouldDeny: 1, wouldAllow: 1, lines: 4 },
      revision: policies.revision,
    })
  })

  test('groups changed calls by the line then and the line now', async () => {
    const call = (user: string, hour: string, more: object) =>
      recordOf({
        request_id: `q-${user}-${hour}`,
        timestamp: `2026-11-15T${hour}:00:00.000Z`,
        subject: { user_id: user, role_key: 'clerk' },
        ...more,
      })
    const log = linesOf(
      call('1', '09', denied),
      call('2', '07', { ...denied, path: '/elsewhere' }),
      call('1', '08', denied),
      call('1', '10', { ...denied, rule: { file: 'policy.csv', line: 4 } }),
      call('3', '11', none),
    )

    const { changes } = await replayOf([log])

    expect(changes).toMatchObject([
      {
        ...{ result: 'deny', calls: 3 },
        users: { count: 2, isExact: true, some: ['1', '2'] },
        roles: { some: ['clerk'] },
        methods: { some: ['GET'] },
        ...{ first: '2026-11-15T07:00:00.000Z', last: '2026-11-15T09:00:00.000Z' },
        example: { requestId: 'q-1-09', userId: '1', method: 'GET', path: '/other' },
        before: { step: 'rule', rule: { file: 'policy.csv', line: 3 } },
        now: { step: 'none' },
      },
      { result: 'deny', calls: 1, before: { rule: { line: 4 } } },
      {
        ...{ result: 'allow', calls: 1, before: { step: 'none', rule: undefined } },
        now: { step: 'rule', rule: { path: '/orders/*', origin: { file: 'policy.csv', line: 1 } } },
      },
    ])
  })

  test('tells lines with the same number apart by their revision', async () => {
    const log = linesOf(
      recordOf({ ...denied, revision: 'r-1' }),
      recordOf({ ...denied, revision: 'r-2' }),
    )

    const { changes, revisions } = await replayOf([log])

    expect(changes.map(({ before }) => before.revisions.some)).toEqual([['r-1'], ['r-2']])
    expect(revisions).toEqual([
      { revision: 'r-1', decisions: 1 },
      { revision: 'r-2', decisions: 1 },
    ])
  })

  test('asks the steps of the policy, and counts those of identity and route', async () => {
    const steps = [
      'admin',
      'exclusion',
      'superuser',
      'rule',
      'none',
      'identity',
      'identity',
      'route',
    ]

    const result = await replayOf([linesOf(...steps.map((step) => recordOf({ step })))])

    expect(result).toMatchObject({ decisions: 8, asked: 5, notAsked: { identity: 2, route: 1 } })
  })

  test('says what could not be asked, and why', async () => {
    const log = linesOf(
      recordOf({ path: 'pZf1Ay3Nc0Qk2bXw7uTLsg' }),
      recordOf({ path: undefined }),
      recordOf({ path: '/orders/../x' }),
      recordOf({ subject: undefined }),
      recordOf({ step: 'quota' }),
      recordOf({ step: 'toString' }),
      recordOf(),
    )

    const result = await replayOf([log])

    expect(result).toMatchObject({ asked: 1, unchanged: 1, decisions: 7 })
    expect(result.couldNotAsk).toEqual({
      ...{ 'hashed-path': 1, 'omitted-path': 1, 'ambiguous-path': 1, 'omitted-role': 1 },
      ...{ 'unknown-step': 2, 'engine-failed': 0, 'omitted-domain': 0 },
    })
  })

  test('counts users whose ID is hashed, and none where it is omitted', async () => {
    const hashed = { ...denied, subject: { user_id: 'pZf1Ay3Nc0Qk2bXw7uTLsg', role_key: 'clerk' } }
    const omitted = { ...denied, subject: { role_key: 'clerk' }, rule: { file: 'p.csv', line: 9 } }

    const { changes } = await replayOf([
      linesOf(recordOf(hashed), recordOf(hashed), recordOf(omitted)),
    ])

    expect(changes.map(({ users }) => users.count)).toEqual([1, 0])
  })

  test.each([1, 7, 500, 100_000])('reads pieces of %i bytes', async (pieceBytes) => {
    const log = linesOf(recordOf({ subject: { user_id: '1', role_key: 'köchin' } }), recordOf(), '')

    const result = await replayOf([log], pieceBytes)

    expect(result).toMatchObject({ asked: 2, unchanged: 1, wouldDeny: 1, damaged: { lines: 0 } })
    expect(result.changes[0]?.example.roleKey).toBe('köchin')
  })

  test('reads CRLF, a byte-order mark and a last line without its end', async () => {
    const log = `\ufeff${linesOf(recordOf(), recordOf(), recordOf()).replaceAll('\n', '\r\n').trimEnd()}`

    expect(await replayOf([log])).toMatchObject({ asked: 3, damaged: { lines: 0 } })
  })

  test('skips other log lines, and names the first damaged one', async () => {
    const other = '{"level":"info","msg":"request"}'
    const invalid = Buffer.concat([
      Buffer.from('{"msg":"decision","path":"'),
      Buffer.from([0xe9]),
      Buffer.from('"}\n'),
    ])
    const log = Buffer.concat([
      Buffer.from(linesOf(recordOf(), other, '')),
      invalid,
      Buffer.from(linesOf('{"level":"info","decision_id":"tru', recordOf())),
    ])

    const result = await replayOf([linesOf(recordOf()), log])

    expect(result).toMatchObject({ asked: 3, otherLines: 1, lines: 7 })
    expect(result.damaged).toEqual({
      lines: 2,
      first: { file: 'log-1', line: 4, message: 'not UTF-8' },
    })
  })

  test('does not keep a line of many megabytes', async () => {
    const long = `{"msg":"decision","path":"${'x'.repeat(5_000_000)}"}`

    const result = await replayOf([linesOf(recordOf(), long, recordOf())], 65_536)

    expect(result).toMatchObject({ asked: 2, lines: 3 })
    expect(result.damaged).toMatchObject({ lines: 1, first: { line: 2 } })
  })

  test('reads gzip with several members, whatever its name', async () => {
    const log = Buffer.concat([
      gzipSync(linesOf(recordOf(), recordOf())),
      gzipSync(linesOf(recordOf())),
    ])

    expect(await replayOf([log], 10)).toMatchObject({ asked: 3, unreadable: [] })
  })

  test('reads a truncated gzip as far as it goes, and the logs after it', async () => {
    const records = Array.from({ length: 5000 }, (_, at) => recordOf({ request_id: `q-${at}` }))
    const whole = gzipSync(linesOf(...records))
    const truncated = whole.subarray(0, Math.floor(whole.length * 0.7))
    const readable = gunzipSync(truncated, { finishFlush: constants.Z_SYNC_FLUSH })
    const lines = readable.toString('latin1').split('\n').length - 1

    const result = await replayOf([truncated, linesOf(recordOf())])

    expect(lines).toBeGreaterThan(3000)
    expect(result).toMatchObject({ asked: lines + 1, damaged: { lines: 0 } })
    expect(result.unreadable).toEqual([
      { file: 'log-0', line: lines, message: 'unexpected end of file' },
    ])
  })

  test('ignores what follows gzip, such as padding', async () => {
    const log = Buffer.concat([gzipSync(linesOf(recordOf())), Buffer.alloc(5000)])

    expect(await replayOf([log])).toMatchObject({ asked: 1, unreadable: [], damaged: { lines: 0 } })
  })

  test('goes on with the next log when gzip is damaged, or a log cannot be read', async () => {
    const damaged = gzipSync(linesOf(recordOf(), recordOf()))
    damaged.fill(0xff, 40)
    const broken: LogSource = {
      name: 'broken',
      bytes: undefined,
      async *open() {
        yield Buffer.from(linesOf(recordOf()))
        throw new Error('EIO: i/o error, read')
      },
    }

    const result = await replay([broken, ...sourcesOf([damaged, linesOf(recordOf())])], policies)

    expect(result.asked).toBe(2)
    expect(result.unreadable).toMatchObject([
      { file: 'broken', line: 1, message: 'EIO: i/o error, read' },
      { file: 'log-0' },
    ])
  })
})
