import { callBegan, callEnded } from '../../src/wire/end-of-turn.ts'

/** More than what is sent at once. */
const many = 5

/** From now on so much is under way that what is sent waits for the end of its turn. */
export function gatherCrowd(): void {
  for (let at = 0; at < many; at++) callBegan()
}

/** That crowd has gone. */
export function leaveCrowd(): void {
  for (let at = 0; at < many; at++) callEnded()
}
