/** What the templates are filled with. */
export interface TemplateValues {
  readonly upstream: string
  readonly port: number
  readonly role: string
}

/** One file to write; secrets are for their owner's eyes only. */
export interface GeneratedFile {
  readonly name: string
  readonly text: string
  readonly isSecret?: true
}

/** A project that `postern init` can write. */
export interface Template {
  readonly defaultUpstream: string
  /** Whether Postern has accounts of its own there, and a key that signs their tokens. */
  readonly hasAccounts: boolean
  /** The variables that name the generated secrets; none where the configuration names its files. */
  readonly env: Readonly<Record<string, string>>
  /** Directories that Git must not see. */
  readonly ignored: readonly string[]
  readonly files: (values: TemplateValues) => readonly GeneratedFile[]
}

/** The first line of a configuration file, for the YAML language server of an editor. */
export const schemaFile = 'postern.schema.json'
export const schemaLine = `# yaml-language-server: $schema=./${schemaFile}\n`
