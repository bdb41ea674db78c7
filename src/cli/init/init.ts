import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { configJsonSchema } from '../../config/schema/json-schema.ts'
import { generateKeyFile, newKid } from '../../token/generate-key.ts'
import type { Run } from '../command.ts'
import type { Io } from '../io.ts'
import { createAccount } from './account.ts'
import { type Answers, readAnswers } from './answers.ts'
import { nextSteps } from './next-steps.ts'
import { ignoreInGit, openProject, type Project } from './project.ts'
import type { initSpec, TemplateName } from './specs.ts'
import { forwardAuth } from './templates/forward-auth.ts'
import { goAdmin } from './templates/go-admin.ts'
import { kubernetes } from './templates/kubernetes.ts'
import { minimal } from './templates/minimal.ts'
import { type GeneratedFile, schemaFile, type Template } from './templates/template.ts'

const byName: Readonly<Record<TemplateName, Template>> = {
  ...{ minimal, kubernetes },
  'go-admin': goAdmin,
  'forward-auth': forwardAuth,
}

/** Writes a project to start from, all of it or nothing, and says what to do next. */
export const init: Run<typeof initSpec> = async ({ arguments: [named], options }, io) => {
  const shown = named ?? '.'
  const directory = resolve(io.cwd, shown)
  const template = byName[options.template]
  const names = topLevelNames(template)
  // Before the questions: nobody should answer them for nothing.
  const first = await openProject(directory, shown, names)
  await first.discard()
  const answers = await readAnswers(options, template, io)

  const project = await openProject(directory, shown, names)
  try {
    await fill(project, { template, answers, io })
    await project.publish()
  } catch (error) {
    await project.discard()
    throw error
  }
  const ignored = await ignoreInGit(directory, template.ignored)
  io.out(nextSteps({ name: options.template, template, answers, directory, shown, ignored, io }))
  return 0
}

interface Parts {
  readonly template: Template
  readonly answers: Answers
  readonly io: Io
}

async function fill(project: Project, { template, answers, io }: Parts): Promise<void> {
  const { values, account } = answers
  const files = template.files(values)
  for (const file of files) await project.write(file)
  if (!files.some(({ name }) => name === 'postern.yaml')) return
  await project.write({ name: schemaFile, text: configJsonSchema() })
  if (account !== undefined) for (const file of await ownSecrets(answers)) await project.write(file)

  // The variables of this shell may be those of another gateway.
  const here = { ...io, cwd: project.draft, env: template.env }
  loadConfig({ file: 'postern.yaml', env: here.env, cwd: here.cwd })
  if (account === undefined) return
  io.err('postern: creating the embedded database\n')
  await createAccount(account, values.role, here)
}

async function ownSecrets({ account }: Answers): Promise<readonly GeneratedFile[]> {
  const key = await generateKeyFile(newKid(new Date()), 'ES256')
  const signing = { name: `keys/${key.name}`, text: key.text, isSecret: true } as const
  if (!account?.isGenerated) return [signing]
  return [signing, { name: 'secrets/password', text: `${account.password}\n`, isSecret: true }]
}

/** Everything that the project has at its top, except what may exist before. */
function topLevelNames(template: Template): readonly string[] {
  const files = template.files({ upstream: '', port: 0, role: '' }).map(({ name }) => name)
  const directories = template.ignored.map((name) => name.replace(/\/$/, ''))
  const schema = files.includes('postern.yaml') ? [schemaFile] : []
  return [...new Set([...files, ...schema, ...directories].map((name) => name.split('/')[0] ?? ''))]
}
