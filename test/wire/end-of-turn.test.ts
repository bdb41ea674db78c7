import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { atEndOfTurn, callBegan, callEnded } from '../../src/wire/end-of-turn.ts'
import { gatherCrowd, leaveCrowd } from '../support/crowd.ts'

let done: string[]
beforeEach(() => {
  done = []
})
const job = (name: string) => () => void done.push(name)
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('with much under way', () => {
  beforeEach(gatherCrowd)
  afterEach(leaveCrowd)

  test('what is to be sent leaves together, in its order, when the turn is over', async () => {
    atEndOfTurn(job('first'))
    await Promise.resolve()
    atEndOfTurn(job('second'))
    expect(done).toEqual([])

    await turn()

    expect(done).toEqual(['first', 'second'])
  })

  test('what is added meanwhile leaves with the next turn', async () => {
    atEndOfTurn(() => atEndOfTurn(job('later')))
    atEndOfTurn(job('now'))

    await turn()
    expect(done).toEqual(['now'])
    await turn()
    expect(done).toEqual(['now', 'later'])
  })

  test('one that throws keeps no other from leaving', async () => {
    const listeners = process.rawListeners(
      'uncaughtException',
    ) as NodeJS.UncaughtExceptionListener[]
    process.removeAllListeners('uncaughtException')
    process.once('uncaughtException', ({ message }) => void done.push(message))
    atEndOfTurn(job('before'))
    atEndOfTurn(() => {
      throw new Error('thrown')
    })
    atEndOfTurn(job('after'))

    while (done.length < 3) await turn()

    for (const listener of listeners) process.on('uncaughtException', listener)
    expect(done).toEqual(['before', 'thrown', 'after'])
  })
})

test('with little under way only what must wait does', async () => {
  callBegan()
  atEndOfTurn(job('later'), true)
  atEndOfTurn(job('at once'))
  callEnded()

  expect(done).toEqual(['at once'])
  await turn()
  expect(done).toEqual(['at once', 'later'])
})
