interface TestedCall {
  /** `null`: a caller without a token. */
  readonly roleKey: string | null
  readonly method: string
  readonly path: string
  readonly host?: string | undefined
  readonly allowed: boolean
}

/** An entry for a policy's test file that expects what was answered. */
export function policyTest({ roleKey, method, path, host, allowed }: TestedCall): string {
  const entries = [
    roleKey === null ? ['anonymous', 'true'] : ['role', quoted(roleKey)],
    ...(host === undefined ? [] : [['host', quoted(host)]]),
    ['method', quoted(method)],
    ['path', quoted(path)],
    ['expect', allowed ? 'allow' : 'deny'],
  ]
  return `- ${entries.map(([key, value]) => `${key}: ${value}`).join('\n  ')}\n`
}

/** JSON strings are YAML strings; simple words need no quotes. */
function quoted(text: string): string {
  return /^[\w/][\w/.-]*$/.test(text) ? text : JSON.stringify(text)
}
