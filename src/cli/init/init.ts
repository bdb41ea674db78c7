import { checkFree } from '../../operations/init/create-project.ts'
import { init as operation } from '../../operations/init/init.ts'
import { templates } from '../../operations/init/templates/templates.ts'
import type { Run } from '../command.ts'
import { contextOf } from '../operation-context.ts'
import { readAnswers } from './answers.ts'
import { nextSteps } from './next-steps.ts'
import type { initSpec } from './specs.ts'

/** Asks what no option says, writes a project to start from, and says what to do next. */
export const init: Run<typeof initSpec> = async ({ arguments: [dir = '.'], options }, io) => {
  const { template } = options
  // Before the questions: a person should not answer them in vain.
  await checkFree(dir, template, io.cwd)
  const answers = await readAnswers(options, templates[template], io)
  const { run } = await operation.load()
  const { document } = await run({ ...answers, dir, template }, contextOf(undefined, io))
  io.out(nextSteps({ ...document, template, answers, io }))
  return 0
}
