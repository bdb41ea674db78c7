import type { Sample } from './measure.ts'
import type { PlannedTurn } from './plan.ts'
import { createProgress } from './progress.ts'
import type { Failure } from './report.ts'
import type { Results } from './results.ts'
import { type Surroundings, takeTurn } from './turn.ts'
import type { Workload } from './workloads.ts'

/** Everybody in turn, round after round. Returns what failed; the rest is in the results. */
export async function takeRounds(
  plan: readonly PlannedTurn[],
  surroundings: Surroundings & { readonly rounds: number },
  results: Results,
): Promise<readonly Failure[]> {
  const failures: Failure[] = []
  const { rounds } = surroundings
  const each = plan.reduce((sum, { workloads }) => sum + workloads.length, 0)
  const progress = createProgress(each * rounds)
  for (let round = 1; round <= rounds; round++) {
    for (const turn of plan) {
      const peer = turn.peer.name
      const told = ({ name: workload }: Workload, outcome: Sample | Error) => {
        progress(`round ${round}, ${peer}, ${workload}`, outcome)
        if (outcome instanceof Error) {
          failures.push({ peer, workload, round, why: outcome.message })
        } else {
          results.add({ peer, workload }, round, outcome)
        }
      }
      await takeTurn({ ...turn, told }, surroundings)
    }
  }
  return failures
}
