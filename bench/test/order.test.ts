import { describe, expect, test } from 'vitest'
import { comparedCells, orderRounds } from '../run/order.ts'
import type { Peer } from '../run/peer.ts'
import { planCells } from '../run/plan.ts'
import { targets } from '../run/targets.ts'

const peerOf = (name: string, more: Partial<Peer> = {}): Peer => ({
  name,
  title: name,
  kind: 'checked',
  version: () => '',
  absent: () => undefined,
  prepare: async () => ({ program: '', args: [] }),
  ...more,
})

const plain = { kind: 'plain' } as const
const all = [
  peerOf('nginx', plain),
  peerOf('caddy', plain),
  peerOf('bare', plain),
  peerOf('fastify-http-proxy', plain),
  peerOf('haproxy-100', { only: ['get', 'ids'] }),
  peerOf('haproxy-1000'),
  peerOf('node-stack-1000', { only: ['get'] }),
  peerOf('postern'),
  peerOf('postern-2-workers', { only: ['get'] }),
  peerOf('postern-10-rules', { only: ['ids'] }),
  peerOf('postern-100000-rules', { only: ['ids'] }),
]
const whole = { quick: false, peers: undefined, workloads: undefined }
const nameOf = ({ peer, workload }: { peer: { name: string }; workload: { name: string } }) =>
  `${peer.name} ${workload.name}`

describe('what is measured', () => {
  test('leaves out what says nothing about a peer', () => {
    const names = planCells(all, whole).map(nameOf)

    expect(names).toContain('nginx post')
    expect(names).not.toContain('nginx tokens')
    expect(names).toContain('postern tokens')
    expect(names).not.toContain('node-stack-1000 ids')
  })

  test('is only what the quick targets are about in a quick run', () => {
    const names = planCells(all, { ...whole, quick: true }).map(nameOf)

    expect(names).toContain('postern tokens')
    expect(names).not.toContain('nginx get')
    expect(names).not.toContain('postern large')
  })

  test('is every workload of the peers that are named', () => {
    const chosen = planCells(all, { ...whole, quick: true, peers: ['nginx'] }).map(nameOf)

    expect(chosen).toEqual(
      ['get', 'ids', 'thousand', 'post', 'large', 'tls'].map((w) => `nginx ${w}`),
    )
  })

  test('is refused when a name does not exist', () => {
    expect(() => planCells(all, { ...whole, peers: ['bar'] })).toThrow('no peer bar; there are')
    expect(() => planCells(all, { ...whole, workloads: ['got'] })).toThrow('no workload got')
  })
})

describe('the order of a round', () => {
  test('turns around from round to round, so that a drift is not on one side', () => {
    const order = orderRounds(['a', 'b'], 3)
    expect(order.map((round) => round.join(''))).toEqual(['ab', 'ba', 'ab'])
  })

  test('knows what is compared window by window: CPU time of two that are both there', () => {
    const chosen = planCells(all, { ...whole, peers: ['nginx', 'bare', 'postern'] })
    const compared = comparedCells(chosen, targets).map(({ name, of, to }) => [
      name,
      nameOf(of),
      nameOf(to),
    ])
    expect(compared).toEqual([
      ['bare', 'postern get', 'bare get'],
      ['tokens', 'postern tokens', 'postern get'],
    ])
  })
})
