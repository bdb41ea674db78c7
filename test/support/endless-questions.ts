import { answerCalls } from '../../src/background/answer-calls.ts'
import type { Task } from '../../src/console/api/perform.ts'

/** A thread for questions of which one, `endless`, computes without end. */
answerCalls(({ operation }: Task) => {
  while (operation === 'endless');
  return { ending: 'done', body: operation }
})
